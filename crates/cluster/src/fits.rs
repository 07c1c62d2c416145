//! Waiting tasks that fit as things stand, and on which servers.

use crate::queues::{Queues, gang};
use crate::rooms::Rooms;
use crate::servers::{Place, Servers};

/// A gang of a user (one task where it states none) that could start now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The user.
    pub user: usize,
    /// A server for each of its tasks.
    pub places: Vec<Place>,
}

/// Steps of a look at a server.
const LOOK: u64 = 20;

/// By user that waits and could start a gang now, all else as it stands: the first servers on which it fits. What groups leave
/// is no matter where they hold nothing back.
#[must_use]
pub fn fits(
    queues: &Queues<'_>,
    servers: &Servers<'_>,
    rooms: Option<&Rooms<'_>>,
    waiting: &[bool],
) -> Vec<Fit> {
    let users = (0..waiting.len()).filter(|n| waiting[*n]);
    users.filter_map(|n| fit(queues, servers, rooms, n)).collect()
}

/// The same of one user.
#[must_use]
pub fn fit(queues: &Queues<'_>, servers: &Servers<'_>, rooms: Option<&Rooms<'_>>, n: usize) -> Option<Fit> {
    let problem = queues.problem;
    let gang = gang(problem, n);
    let mut places = Vec::new();
    for i in problem.classes_of(n) {
        let room = rooms.and_then(|rooms| rooms.on_class(n, i));
        let room = room.map(|room| room.floor().numer().to_u64().unwrap_or(u64::MAX));
        let mut left = room.unwrap_or(gang).min(gang - places.len() as u64);
        evenhand_budget::charge(LOOK * servers.classes[i].len() as u64, "looking for servers that fit");
        for server in &servers.classes[i] {
            let room = server.room(problem, i, n, left);
            places.extend((0..room).map(|_| Place { class: i, index: server.index }));
            left -= room;
            if left == 0 {
                break;
            }
        }
        if places.len() as u64 == gang {
            // What groups leave is looked at last: a busy cluster has no server anyway.
            let is_left = rooms.and_then(|rooms| rooms.of_groups(n)).is_none_or(|room| room >= gang);
            return is_left.then_some(Fit { user: n, places });
        }
    }
    None
}
