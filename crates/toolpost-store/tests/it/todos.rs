//! Todos: a list a session, replaced as a whole.

use crate::{Fresh, by, on_every_store};
use toolpost_core::Code;
use toolpost_core::store::{Todo, TodoPriority, TodoStatus};

on_every_store!(a_list_is_replaced_as_a_whole);

fn todo(id: &str, content: &str) -> Todo {
    Todo {
        id: id.to_owned(),
        content: content.to_owned(),
        status: TodoStatus::InProgress,
        priority: TodoPriority::Low,
    }
}

fn a_list_is_replaced_as_a_whole(fresh: &Fresh) {
    let store = fresh.open();
    assert_eq!(store.todos("a").unwrap(), []);
    store.set_todos(&by("a"), vec![todo("1", "write"), todo("2", "test")]).unwrap();
    store.set_todos(&by("b"), vec![todo("1", "other")]).unwrap();
    let refused = store.set_todos(&by("a"), vec![todo("1", "x"), todo("1", "y")]).unwrap_err();
    assert_eq!(refused.code(), Code::ValidationError);
    assert_eq!(store.todos("a").unwrap(), [todo("1", "write"), todo("2", "test")]);
    store.set_todos(&by("a"), Vec::new()).unwrap();
    assert_eq!(store.todos("a").unwrap(), []);
    assert_eq!(store.todos("b").unwrap(), [todo("1", "other")]);
    assert_eq!(store.last_position().unwrap(), 3, "each change is in the log, a refused one is not");
}
