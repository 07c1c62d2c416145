//! Karma's credits, computed slice by slice. All queues are searched for each slice.

/// Allocates the slices of one quantum, and returns the slices of each queue. `credits` are the credits
/// before the quantum, and are changed to those after it.
pub fn quantum(demands: &[i64], fair_share: i64, guaranteed: i64, credits: &mut [i64]) -> Vec<i64> {
    let count = demands.len();
    let mut shared = count as i64 * (fair_share - guaranteed);
    credits.iter_mut().for_each(|credit| *credit += fair_share - guaranteed);
    let mut slices: Vec<i64> = demands.iter().map(|demand| *demand.min(&guaranteed)).collect();
    let mut donated: Vec<i64> = demands.iter().map(|demand| (guaranteed - demand).max(0)).collect();
    loop {
        let wants = |n: &usize| slices[*n] < demands[*n] && credits[*n] > 0;
        let borrower = (0..count).filter(wants).min_by_key(|n| (-credits[*n], *n));
        let donor = (0..count).filter(|n| donated[*n] > 0).min_by_key(|n| (credits[*n], *n));
        let Some(borrower) = borrower else { return slices };
        match donor {
            Some(donor) => {
                donated[donor] -= 1;
                credits[donor] += 1;
            }
            None if shared > 0 => shared -= 1,
            None => return slices,
        }
        slices[borrower] += 1;
        credits[borrower] -= 1;
    }
}
