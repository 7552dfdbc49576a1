//! Which path is answered by whom.

use super::received::Received;
use super::reply::Reply;
use crate::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// Answers the requests to one path. Implemented by each service behind a listener; called only with requests that were
/// admitted, from any thread, many at a time. The future is dropped when the client hangs up before its reply.
pub trait Route: Send + Sync {
    /// The reply to a request.
    fn answer<'a>(&'a self, request: Received) -> BoxFuture<'a, Reply>;
}

/// The routes of a listener, by their paths.
#[derive(Clone, Default)]
pub struct Routes(Vec<(String, Arc<dyn Route>)>);

impl Routes {
    /// No routes.
    pub fn new() -> Routes {
        Routes::default()
    }

    /// Adds a route. A path that ends with `/` stands for all paths below it as well; the longest path that fits wins.
    #[must_use]
    pub fn add(mut self, path: &str, route: Arc<dyn Route>) -> Routes {
        self.0.push((path.to_owned(), route));
        self
    }

    pub(super) fn find(&self, path: &str) -> Option<&Arc<dyn Route>> {
        let fits = |route: &str| path == route || route.ends_with('/') && path.starts_with(route);
        let fitting = self.0.iter().filter(|(route, _)| fits(route));
        fitting.max_by_key(|(route, _)| route.len()).map(|(_, route)| route)
    }
}

/// The paths, for a message.
impl fmt::Display for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<&str> = self.0.iter().map(|(path, _)| path.as_str()).collect();
        f.write_str(&paths.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::StatusCode;

    struct Named;

    impl Route for Named {
        fn answer<'a>(&'a self, _: Received) -> BoxFuture<'a, Reply> {
            Box::pin(async { Reply::empty(StatusCode::OK) })
        }
    }

    fn check(path: &str, expected: Option<usize>) {
        let all: Vec<Arc<dyn Route>> = (0..3).map(|_| Arc::new(Named) as Arc<dyn Route>).collect();
        let mut routes = Routes::new();
        for (path, route) in ["/mcp", "/console/", "/console/api"].iter().zip(&all) {
            routes = routes.add(path, Arc::clone(route));
        }
        let found =
            routes.find(path).map(|found| routes.0.iter().position(|(_, one)| Arc::ptr_eq(one, found)));
        assert_eq!(found, expected.map(Some), "{path}");
    }

    #[test]
    fn the_longest_path_that_fits_wins() {
        check("/mcp", Some(0));
        check("/mcp/", None);
        check("/mcpx", None);
        check("/", None);
        check("/console/", Some(1));
        check("/console", None);
        check("/console/a/b.js", Some(1));
        check("/console/api", Some(2));
        check("/console/api/x", Some(1));
    }
}
