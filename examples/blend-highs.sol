Model status
Optimal

# Primal solution values
Feasible
Objective 1000
# Columns 2
pellets 0
powder 1
# Rows 2
additive 1
storage 1

# Dual solution values
Feasible
# Columns 2
pellets 1e-08
powder 0
# Rows 2
additive 1000
storage 0

# Basis
HiGHS_basis_file v2
Valid
# Columns 2
pellets 0
powder 1
# Rows 2
additive 0
storage 1
