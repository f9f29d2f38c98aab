//! Steps and their dependences: topological order with the cycle when there is none, depth, critical path.
