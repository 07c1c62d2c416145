Model status
Optimal

# Primal solution values
Feasible
Objective 36
# Columns 2
doors 2.000000001
windows 6
# Rows 3
plant1 2.000000001
plant2 12
plant3 18.000000003

# Dual solution values
Feasible
# Columns 2
doors 0
windows 0
# Rows 3
plant1 0
plant2 1.5
plant3 1
