package workload

import "flag"

var update = flag.Bool("update", false, "write generated files anew")
