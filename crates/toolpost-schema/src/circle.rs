//! Finds references that lead in a circle without going into the value.

use crate::program::{Check, Node, NodeId};

/// A node from which every way leads back into a circle of `$ref` and `allOf`, whatever the value is.
pub(crate) fn first_stuck(nodes: &[Node]) -> Option<NodeId> {
    let mut needed_by: Vec<Vec<NodeId>> = vec![Vec::new(); nodes.len()];
    let mut needs: Vec<usize> = vec![0; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let mut add = |id: NodeId| {
            needed_by[id as usize].push(at as NodeId);
            needs[at] += 1;
        };
        for check in &node.checks {
            match check {
                Check::Ref(id) => add(*id),
                Check::All(ids) => ids.iter().copied().for_each(&mut add),
                _ => {}
            }
        }
    }
    let mut free: Vec<usize> = (0..nodes.len()).filter(|at| needs[*at] == 0).collect();
    while let Some(at) = free.pop() {
        for user in std::mem::take(&mut needed_by[at]) {
            needs[user as usize] -= 1;
            if needs[user as usize] == 0 {
                free.push(user as usize);
            }
        }
    }
    needs.iter().position(|open| *open > 0).map(|at| at as NodeId)
}
