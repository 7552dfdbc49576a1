//! Statements that branch on tests, and calls that come back only if a test holds.

use tree_sitter::Node;

use super::condition::Test;
use super::flow::Told;
use super::state::Extractor;
use super::{K, named_children};
use crate::facts::NONE;
use crate::typescript::own::narrow;

/// How deep a statement is searched for its end.
const ENDS: u32 = 64;

impl<'tree> Extractor<'_, '_> {
    /// `if`: what its condition tells holds in its branches, and behind it if a branch never gets there.
    pub(super) fn conditional(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let test = node.child_by_field_id(fields.condition).map(|test| self.condition(test, scope, NONE));
        let test = test.unwrap_or_default();
        let mut outcomes = Vec::new();
        for (field, told) in [(fields.consequence, &test.holds), (fields.alternative, &test.fails)] {
            let mark = self.flow.mark();
            self.flow.tell(told);
            let branch = node.child_by_field_id(field);
            if let Some(branch) = branch {
                self.visit(branch, scope, NONE);
            }
            let is_dead = branch.is_some_and(|branch| self.never_ends(branch, 0));
            outcomes.push(self.flow.outcome(mark, is_dead));
        }
        self.join_branches(&test, &outcomes);
        NONE
    }

    /// Whether what stands behind a statement is never reached from it.
    fn never_ends(&self, node: Node<'tree>, depth: u32) -> bool {
        if depth > ENDS {
            return false;
        }
        let fields = self.fields;
        match self.kind(node) {
            K::Return | K::Leave => true,
            K::Block | K::Else => {
                let statements = named_children(node);
                statements.iter().any(|&statement| {
                    let is_block = matches!(self.kind(statement), K::Block | K::If);
                    (matches!(self.kind(statement), K::Return | K::Leave | K::Statement) || is_block)
                        && self.never_ends(statement, depth + 1)
                })
            }
            K::If => [fields.consequence, fields.alternative].iter().all(|&field| {
                node.child_by_field_id(field).is_some_and(|branch| self.never_ends(branch, depth + 1))
            }),
            K::Statement => named_children(node).first().is_some_and(|&call| {
                let function = call.child_by_field_id(fields.function);
                function.is_some_and(|function| self.text(function) == "process.exit")
            }),
            _ => false,
        }
    }

    /// `for`, `while`, `do`.
    pub(super) fn repeated(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let block = self.block(scope, node);
        if let Some(initial) = node.child_by_field_id(fields.initializer) {
            self.visit(initial, block, NONE);
        }
        self.enter_loop(node);
        let mark = self.flow.mark();
        let is_late = node.kind() == "do_statement";
        let body = node.child_by_field_id(fields.body);
        if let Some(body) = body.filter(|_| is_late) {
            self.visit(body, block, NONE);
        }
        if let Some(condition) = node.child_by_field_id(fields.condition) {
            let test = self.condition(condition, block, NONE);
            self.flow.tell(&test.holds);
        }
        if let Some(body) = body.filter(|_| !is_late) {
            self.visit(body, block, NONE);
        }
        if let Some(increment) = node.child_by_field_id(fields.increment) {
            self.visit(increment, block, NONE);
        }
        self.flow.roll_back(mark);
        NONE
    }

    /// `switch`: in a case the value is what the case names, or what the cases name that run into it.
    pub(super) fn switch(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let value = node.child_by_field_id(fields.value);
        let value = value.and_then(|value| named_children(value).first().copied());
        if let Some(value) = value {
            self.visit(value, scope, NONE);
        }
        let Some(body) = node.child_by_field_id(fields.body) else { return NONE };
        let block = self.block(scope, body);
        let is_true = value.is_some_and(|value| self.text(value) == "true");
        let mut cases: Vec<(u32, bool)> = Vec::new();
        let mut running: Vec<u32> = Vec::new();
        let mut rest: Option<bool> = None;
        for case in named_children(body) {
            if self.kind(case) != K::Case {
                continue;
            }
            let mark = self.flow.mark();
            let test = case.child_by_field_id(fields.value);
            match test {
                Some(test) if is_true => {
                    let test = self.condition(test, block, NONE);
                    self.flow.tell(&test.holds);
                }
                Some(test) => {
                    let read = self.visit(test, block, NONE);
                    running.push(self.literal_value(test, read));
                }
                None => {}
            }
            let is_default = test.is_none();
            let statements = crate::syntax::field_children(case, fields.body);
            if let Some(value) = value.filter(|_| !statements.is_empty() && !is_true) {
                let (named, holds) = match is_default {
                    // What runs into the default is left out of what it cannot be.
                    true => {
                        let others = cases.iter().map(|&(case, _)| case);
                        (others.chain(self.later_cases(case)).collect(), false)
                    }
                    false => (running.clone(), true),
                };
                let is_known = (!is_default || running.is_empty()) && rest.is_none_or(|is_dead| is_dead);
                if is_known {
                    let told = self.case_told(value, scope, &named, holds);
                    self.flow.tell(&told);
                }
            }
            let mut is_dead = false;
            let mut is_left = false;
            for statement in statements.iter().copied() {
                self.visit(statement, block, NONE);
                let leaves = self.never_ends(statement, 0);
                is_left |= leaves;
                is_dead |= leaves && !self.breaks(statement);
            }
            if is_default {
                rest = Some(is_dead);
            }
            if !statements.is_empty() {
                cases.extend(running.iter().map(|&case| (case, is_dead)));
            }
            if is_left {
                running.clear();
            }
            self.flow.roll_back(mark);
        }
        let Some(value) = value.filter(|_| !is_true) else { return NONE };
        let told = match rest {
            Some(true) => {
                let alive: Vec<u32> =
                    cases.iter().filter(|(_, is_dead)| !is_dead).map(|case| case.0).collect();
                self.case_told(value, scope, &alive, true)
            }
            _ => {
                let dead: Vec<u32> =
                    cases.iter().filter(|(_, is_dead)| *is_dead).map(|case| case.0).collect();
                self.case_told(value, scope, &dead, false)
            }
        };
        self.flow.tell(&told);
        NONE
    }

    /// The literals of the cases behind one, which are read later.
    fn later_cases(&mut self, case: Node<'tree>) -> Vec<u32> {
        let mut found = Vec::new();
        let mut next = case.next_named_sibling();
        while let Some(node) = next {
            if let Some(test) = node.child_by_field_id(self.fields.value) {
                found.extend(self.literal_type(test));
            }
            next = node.next_named_sibling();
        }
        found
    }

    /// What a list of cases tells of the value of a `switch`.
    fn case_told(&mut self, value: Node<'tree>, scope: u32, named: &[u32], holds: bool) -> Vec<Told> {
        if named.is_empty() || named.contains(&NONE) {
            return Vec::new();
        }
        let (one, other) = if let Some(of) = self.type_tested(value) {
            let texts: Vec<u32> = named.iter().filter_map(|&case| self.builder.literal_text(case)).collect();
            let list = self.builder.list(&texts);
            self.both_ways(of, scope, narrow::TYPE, list, NONE)
        } else if self.kind(value) == K::Member {
            let list = self.builder.list(named);
            self.property_compared(value, scope, list)
        } else {
            return Vec::new();
        };
        if holds { one } else { other }
    }

    /// Whether a statement ends with a `break`.
    fn breaks(&self, node: Node<'tree>) -> bool {
        let mut node = node;
        while let Some(&last) = named_children(node).last()
            && self.kind(node) == K::Block
        {
            node = last;
        }
        node.kind() == "break_statement"
    }

    /// `try`: its end is reached from its body, or from its handler, which may begin anywhere in the body.
    pub(super) fn attempt(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let fields = self.fields;
        let mut outcomes = Vec::new();
        for field in [fields.body, fields.handler] {
            let Some(part) = node.child_by_field_id(field) else { continue };
            let mark = self.flow.mark();
            self.visit(part, scope, NONE);
            let inner =
                if field == fields.handler { part.child_by_field_id(fields.body) } else { Some(part) };
            let is_dead = inner.is_some_and(|inner| self.never_ends(inner, 0));
            outcomes.push(self.flow.outcome(mark, is_dead));
        }
        self.join_branches(&Test::default(), &outcomes);
        if let Some(last) = node.child_by_field_id(fields.finalizer) {
            self.visit(last, scope, NONE);
        }
        NONE
    }

    /// An expression as a statement; a call may assert something of its arguments.
    pub(super) fn statement(&mut self, node: Node<'tree>, scope: u32) -> u32 {
        let Some(&inner) = named_children(node).first() else { return NONE };
        let function = inner.child_by_field_id(self.fields.function);
        let may_assert = self.kind(inner) == K::Call
            && function.is_some_and(|function| matches!(self.kind(function), K::Identifier | K::Member));
        if !may_assert {
            self.children(node, scope);
            return NONE;
        }
        self.is_statement = true;
        let call = self.visit(inner, scope, NONE);
        self.is_statement = false;
        let tested = std::mem::take(&mut self.argument_told);
        if call == NONE {
            return NONE;
        }
        let is_bare = function.is_some_and(|function| self.kind(function) == K::Identifier);
        let mut told = Vec::new();
        for one in tested {
            let expr = self.narrowed(narrow::ASSERTED_TEST, true, one.plain, call, one.expr);
            told.push(Told { expr, ..one });
        }
        if is_bare {
            for (subject, index) in self.call_subjects(inner) {
                if let Some((key, plain, seen)) = self.subject(subject, scope) {
                    let expr = self.narrowed(narrow::ASSERTED, true, seen, call, index);
                    told.push(Told { key, expr, plain });
                }
            }
        }
        self.flow.tell(&told);
        NONE
    }
}
