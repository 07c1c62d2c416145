* Buy at least one unit of an additive at least cost. A pellet holds 1e-10 units, a bag of powder holds one.
NAME          blend
ROWS
 N  cost
 G  additive
 L  storage
COLUMNS
    pellets   cost      1e-8  additive  1e-10
    pellets   storage   1e-9
    powder    cost      1000  additive  1
    powder    storage   1
RHS
    rhs       additive  1     storage   2
BOUNDS
 UP bnd       pellets   1e9
ENDATA
