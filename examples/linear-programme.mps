* Maximise 3 doors + 5 windows, with a capacity of three plants.
NAME          plants
OBJSENSE
    MAX
ROWS
 N  profit
 L  plant1
 L  plant2
 L  plant3
COLUMNS
    doors     profit    3   plant1    1
    doors     plant3    3
    windows   profit    5   plant2    2
    windows   plant3    2
RHS
    rhs       plant1    4   plant2    12
    rhs       plant3    18
ENDATA
