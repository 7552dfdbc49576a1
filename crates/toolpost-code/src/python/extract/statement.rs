//! Statements, and where the flow of a program branches.

use tree_sitter::Node;

use super::condition::Test;
use super::flow::Outcome;
use super::state::Extractor;
use super::{K, field_children, named_children};
use crate::facts::{NONE, Op, Role, ScopeKind};

impl Extractor<'_, '_> {
    pub(super) fn statement(&mut self, node: Node<'_>, scope: u32) -> u32 {
        match self.kind(node) {
            K::Comment => {}
            K::Block => self.children(node, scope),
            K::ExpressionStatement => self.children(node, scope),
            K::Assignment => return self.assignment(node, scope),
            K::Augmented => return self.augmented(node, scope),
            K::Return => {
                let value = named_children(node).first().map_or(NONE, |&value| self.visit(value, scope));
                self.frame.returns.push(value);
                self.flow.is_dead = true;
            }
            K::Raise => {
                self.children(node, scope);
                self.flow.is_dead = true;
            }
            K::Leave => self.flow.is_dead = true,
            K::Assert => {
                let parts = named_children(node);
                if let Some(&condition) = parts.first() {
                    let test = self.condition(condition, scope);
                    for &part in &parts[1..] {
                        self.visit(part, scope);
                    }
                    self.tell(&test.holds);
                }
            }
            K::Global | K::Nonlocal => self.elsewhere(node, scope),
            K::Import => self.import(node),
            K::ImportFrom | K::FutureImport => self.import_from(node),
            K::If => self.branches(node, scope),
            K::While => self.while_loop(node, scope),
            K::For => self.for_loop(node, scope),
            K::Try => self.attempt(node, scope),
            K::With => self.with(node, scope),
            K::Match => self.choose(node, scope),
            K::Function => self.function(node, scope, &[]),
            K::Class => self.class(node, scope, &[]),
            K::Decorated => self.decorated(node, scope),
            K::TypeAlias => self.type_alias(node, scope),
            _ => return self.expression(node, scope),
        }
        NONE
    }

    /// `global` and `nonlocal`: the names belong to another scope from here on.
    fn elsewhere(&mut self, node: Node<'_>, scope: u32) {
        let is_global = self.kind(node) == K::Global;
        for child in named_children(node) {
            let name = self.name(child);
            let target = if is_global { 0 } else { self.function_binding(name) };
            if target != self.frame.scope {
                self.frame.elsewhere.insert(name, target);
            }
            let scope = if self.frame.elsewhere.contains_key(&name) { target } else { scope };
            self.builder.token(name, child.start_byte(), scope, Role::Bare, NONE);
        }
    }

    /// The scope of the nearest function around this one that binds a name, or of the nearest at all.
    fn function_binding(&self, name: u32) -> u32 {
        let facts = self.builder.facts();
        let mut nearest = NONE;
        let mut current = facts.scope(self.frame.scope).map_or(NONE, |scope| scope.parent);
        while let Some(scope) = facts.scope(current) {
            if scope.kind == ScopeKind::Function {
                if self.is_bound(current, name) {
                    return current;
                }
                nearest = if nearest == NONE { current } else { nearest };
            }
            current = scope.parent;
        }
        if nearest == NONE { self.frame.scope } else { nearest }
    }

    fn branches(&mut self, node: Node<'_>, scope: u32) {
        let fields = self.fields;
        let start = self.flow.mark();
        let mut outcomes: Vec<Outcome> = Vec::new();
        let was_dead = self.flow.is_dead;
        let mut clauses = vec![node];
        clauses.extend(field_children(node, fields.alternative));
        let mut has_else = false;
        for clause in clauses {
            let here = self.flow.mark();
            if self.kind(clause) == K::Else {
                has_else = true;
                self.visit_field(clause, fields.body, scope);
                outcomes.push(self.flow.outcome(start));
                self.flow.roll_back(here);
                continue;
            }
            let test = clause.child_by_field_id(fields.condition).map(|test| self.condition(test, scope));
            let test = test.unwrap_or_default();
            let here = self.flow.mark().max(here);
            self.tell(&test.holds);
            self.visit_field(clause, fields.consequence, scope);
            outcomes.push(self.flow.outcome(start));
            self.flow.roll_back(here);
            self.tell(&test.fails);
        }
        if !has_else {
            outcomes.push(self.flow.outcome(start));
        }
        self.flow.roll_back(start);
        self.join_branches(&outcomes);
        self.flow.is_dead |= was_dead;
    }

    fn while_loop(&mut self, node: Node<'_>, scope: u32) {
        let fields = self.fields;
        let start = self.flow.mark();
        self.enter_loop();
        let test = node.child_by_field_id(fields.condition).map(|test| self.condition(test, scope));
        let test: Test = test.unwrap_or_default();
        let base = self.flow.mark();
        self.tell(&test.holds);
        self.visit_field(node, fields.consequence, scope);
        self.visit_field(node, fields.body, scope);
        self.end_loop(node, scope, start, base, &test);
    }

    fn for_loop(&mut self, node: Node<'_>, scope: u32) {
        let fields = self.fields;
        let over = self.visit_field(node, fields.right, scope);
        let start = self.flow.mark();
        self.enter_loop();
        let element = if over == NONE { NONE } else { self.builder.expr(Op::Element, over, NONE) };
        if let Some(left) = node.child_by_field_id(fields.left) {
            self.assign(left, element, node, scope);
        }
        self.visit_field(node, fields.body, scope);
        self.end_loop(node, scope, start, start, &Test::default());
    }

    fn end_loop(&mut self, node: Node<'_>, scope: u32, start: usize, base: usize, test: &Test) {
        let is_dead = self.flow.is_dead;
        self.flow.is_dead = false;
        self.leave_loop();
        let mut outcome = self.flow.outcome(start);
        outcome.set_dead(is_dead);
        self.flow.roll_back(base);
        self.tell(&test.fails);
        let around = self.flow.outcome(start);
        self.flow.roll_back(start);
        self.join_branches(&[outcome, around]);
        self.visit_field(node, self.fields.alternative, scope);
    }

    fn attempt(&mut self, node: Node<'_>, scope: u32) {
        let start = self.flow.mark();
        self.visit_field(node, self.fields.body, scope);
        let mut outcomes: Vec<Outcome> = Vec::new();
        let parts = named_children(node);
        let body_is_dead = self.flow.is_dead;
        let mut tried = self.flow.outcome(start);
        tried.set_dead(false);
        if let Some(&alternative) = parts.iter().find(|&&part| self.kind(part) == K::Else) {
            self.flow.is_dead = body_is_dead;
            self.visit_field(alternative, self.fields.body, scope);
            outcomes.push(self.flow.outcome(start));
        } else {
            let mut done = self.flow.outcome(start);
            done.set_dead(body_is_dead);
            outcomes.push(done);
        }
        self.flow.roll_back(start);
        for &part in &parts {
            if self.kind(part) != K::Except {
                continue;
            }
            // An exception may come from anywhere in the body.
            let nothing = self.flow.outcome(start);
            self.join_branches(&[nothing, tried.copy()]);
            self.except(part, scope);
            outcomes.push(self.flow.outcome(start));
            self.flow.roll_back(start);
        }
        self.join_branches(&outcomes);
        for &part in &parts {
            if self.kind(part) != K::Finally {
                continue;
            }
            let was_dead = std::mem::take(&mut self.flow.is_dead);
            self.children(part, scope);
            self.flow.is_dead |= was_dead;
        }
    }

    fn except(&mut self, node: Node<'_>, scope: u32) {
        for child in named_children(node) {
            match self.kind(child) {
                K::AsPattern => {
                    let parts = named_children(child);
                    let class = parts.first().map_or(NONE, |&class| self.visit(class, scope));
                    let value =
                        if class == NONE { NONE } else { self.own(super::super::own::CAUGHT, &[class]) };
                    if let Some(&target) = parts.get(1) {
                        self.assign(target, value, child, scope);
                    }
                }
                _ => {
                    self.visit(child, scope);
                }
            }
        }
    }

    fn with(&mut self, node: Node<'_>, scope: u32) {
        for clause in named_children(node) {
            if self.kind(clause) != K::WithClause {
                continue;
            }
            for item in named_children(clause) {
                let Some(value) = item.child_by_field_id(self.fields.value) else {
                    self.visit(item, scope);
                    continue;
                };
                // The grammar reads `with (a as b, c as d)` as a tuple of such patterns.
                let parts = match self.kind(value) {
                    K::Tuple | K::Parenthesized => named_children(value),
                    _ => vec![value],
                };
                for part in parts {
                    if self.kind(part) == K::AsPattern {
                        self.entered(part, scope);
                    } else {
                        self.visit(part, scope);
                    }
                }
            }
        }
        self.visit_field(node, self.fields.body, scope);
    }

    fn entered(&mut self, node: Node<'_>, scope: u32) {
        let parts = named_children(node);
        let context = parts.first().map_or(NONE, |&context| self.visit(context, scope));
        let value = if context == NONE { NONE } else { self.builder.expr(Op::Enter, context, NONE) };
        if let Some(&target) = parts.get(1) {
            self.assign(target, value, node, scope);
        }
    }

    fn choose(&mut self, node: Node<'_>, scope: u32) {
        let fields = self.fields;
        let subjects = field_children(node, fields.subject);
        let mut subject = NONE;
        let mut key = None;
        for &one in &subjects {
            subject = self.visit(one, scope);
            key = self.key(one);
        }
        if subjects.len() > 1 {
            (subject, key) = (NONE, None);
        }
        let Some(body) = node.child_by_field_id(fields.body) else { return };
        let start = self.flow.mark();
        let mut outcomes = Vec::new();
        for case in named_children(body) {
            if self.kind(case) != K::Case {
                self.visit(case, scope);
                continue;
            }
            for part in named_children(case) {
                if self.kind(part) == K::CasePattern {
                    let matched = self.pattern(part, subject, scope);
                    if let Some(key) = key
                        && matched != NONE
                    {
                        self.tell(&[super::flow::Told { key, expr: matched }]);
                    }
                }
            }
            if let Some(guard) = case.child_by_field_id(fields.guard) {
                for condition in named_children(guard) {
                    let test = self.condition(condition, scope);
                    self.tell(&test.holds);
                }
            }
            self.visit_field(case, fields.consequence, scope);
            outcomes.push(self.flow.outcome(start));
            self.flow.roll_back(start);
        }
        outcomes.push(self.flow.outcome(start));
        self.join_branches(&outcomes);
    }
}
