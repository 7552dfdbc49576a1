//! One connection to PostgreSQL, made when it is needed and made again when it was lost.

use super::tls::{self, Address};
use super::told;
use crate::db::{Cell, Failure, Job, Kind, Row, Tx, Value};
use crate::migrations;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Client, Config, Statement};

/// How long a server may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long a statement waits for the turn of another process. A process that has stopped is gone before.
const WAITING: Duration = Duration::from_secs(5);
/// After so long without a statement, the server takes back the transaction of a process: it has stopped in the middle, and keeps
/// others waiting.
const STOPPED: Duration = Duration::from_secs(3);
/// Keeps two processes from making the tables at once (`toolpost` as a number).
const TURN: i64 = 0x746f_6f6c_706f_7374;

pub(super) struct Connection {
    address: Address,
    runtime: Runtime,
    open: Option<Open>,
}

/// A connection that works, as far as is known.
struct Open {
    client: Client,
    /// Ready statements, by their text.
    statements: HashMap<String, Statement>,
}

/// Where the store is, for messages: never with the password.
pub(super) fn name(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("`postgres://{host}:{port}/{}`", config.get_dbname().unwrap_or_default())
}

impl Connection {
    pub(super) fn new(mut address: Address) -> Result<Connection, Failure> {
        let config = &mut address.config;
        config.connect_timeout(CONNECTING);
        if config.get_application_name().is_none() {
            config.application_name(format!("toolpost, process {}", std::process::id()));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::Broken(format!("no runtime for it could be made: {error}")))?;
        Ok(Connection { address, runtime, open: None })
    }

    /// Brings the tables up to date, one process at a time.
    pub(super) fn migrate(&mut self) -> Result<(), Failure> {
        loop {
            let mut version = 0;
            let found = &mut version;
            let mut step = |tx: &mut dyn Tx| -> Result<(), Failure> {
                tx.rows("SELECT pg_advisory_xact_lock(?1)", &[Value::Int(TURN)])?;
                tx.run("CREATE TABLE IF NOT EXISTS toolpost_schema (version BIGINT PRIMARY KEY)", &[])?;
                let rows = tx.rows("SELECT coalesce(max(version), 0) FROM toolpost_schema", &[])?;
                let from = crate::db::first(rows).map_or(Ok(0), |mut row| row.number())? as usize;
                if from > migrations::NEWEST {
                    return Err(migrations::from_the_future(from));
                }
                *found = from;
                if from < migrations::NEWEST {
                    migrations::step(tx, from)?;
                    tx.run(
                        "INSERT INTO toolpost_schema (version) VALUES (?1)",
                        &[Value::Int(from as i64 + 1)],
                    )?;
                    *found = from + 1;
                }
                Ok(())
            };
            self.in_transaction(&mut step)?;
            if version == migrations::NEWEST {
                return Ok(());
            }
        }
    }

    /// The version of the tables; 0 where there are none.
    pub(super) fn version(&mut self) -> Result<usize, Failure> {
        let mut version = 0;
        self.in_transaction(&mut |tx| {
            let rows = tx.rows("SELECT count(to_regclass('toolpost_schema'))", &[])?;
            if crate::db::first(rows).map_or(Ok(0), |mut row| row.number())? > 0 {
                let rows = tx.rows("SELECT coalesce(max(version), 0) FROM toolpost_schema", &[])?;
                version = crate::db::first(rows).map_or(Ok(0), |mut row| row.number())? as usize;
            }
            Ok(())
        })?;
        Ok(version)
    }

    /// Takes the lock of this name for as long as the connection lasts. Whether nobody else has it.
    pub(super) fn locks(&mut self, name: &str) -> Result<bool, Failure> {
        let hash = Sha256::digest(format!("toolpost hold {name}"));
        let key = hash.iter().take(8).fold(0_i64, |key, byte| (key << 8) | i64::from(*byte));
        let mut is_own = false;
        self.in_transaction(&mut |tx| {
            let query = "SELECT (CASE WHEN pg_try_advisory_lock(?1) THEN 1 ELSE 0 END)::bigint";
            let rows = tx.rows(query, &[Value::Int(key)])?;
            is_own = crate::db::first(rows).map_or(Ok(0), |mut row| row.number())? == 1;
            Ok(())
        })?;
        Ok(is_own)
    }

    /// Who has been in a transaction for longest, in words; none where nobody else is in one, or the server does not tell.
    pub(super) fn blocker(&mut self) -> Option<String> {
        let mut found = None;
        self.in_transaction(&mut |tx| {
            let query = "SELECT pid::bigint, application_name::text, (extract(epoch FROM clock_timestamp() - xact_start))::bigint
                FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
                ORDER BY xact_start LIMIT 1";
            if let Some(mut row) = crate::db::first(tx.rows(query, &[])?) {
                let (pid, name, seconds) = (row.number()?, row.text()?, row.number()?);
                found = Some(format!(
                    "the connection {pid} of the server (`{name}`) has been in a transaction for {seconds} seconds"
                ));
            }
            Ok(())
        })
        .ok()?;
        found
    }

    /// Does a job in a transaction.
    pub(super) fn transaction(&mut self, job: &mut Job) -> Result<(), Failure> {
        self.in_transaction(&mut |tx| job(tx))
    }

    fn in_transaction(
        &mut self,
        job: &mut dyn FnMut(&mut dyn Tx) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut open = match self.open.take() {
            Some(open) if !open.client.is_closed() => open,
            _ => self.connect()?,
        };
        let mut tx = PostgresTx { runtime: &self.runtime, open: &mut open };
        tx.plain("BEGIN")?;
        let done = catch_unwind(AssertUnwindSafe(|| job(&mut tx)))
            .unwrap_or_else(|_| Err(Failure::Broken("a change crashed; nothing of it was kept".to_owned())));
        let ended = match &done {
            // Whether a commit has happened whose answer was lost, nobody knows.
            Ok(()) => tx.plain("COMMIT").map_err(|failure| match failure {
                Failure::Gone(why) => Failure::Unknown(why),
                other => other,
            }),
            Err(_) => tx.plain("ROLLBACK"),
        };
        if ended.is_ok() {
            self.open = Some(open);
        }
        done.and(ended)
    }

    fn connect(&self) -> Result<Open, Failure> {
        let Address { config, encryption } = &self.address;
        let (client, connection) = self
            .runtime
            .block_on(async { tokio::time::timeout(CONNECTING, config.connect(encryption.clone())).await })
            .map_err(|_| Failure::Gone(format!("no answer within {} seconds", CONNECTING.as_secs())))?
            .map_err(|error| failure(&error))?;
        let client = self.settled(client, connection)?;
        Ok(Open { client, statements: HashMap::new() })
    }

    /// Somebody who stops in the middle of a transaction must not keep all others waiting for ever.
    fn settled<C>(&self, client: Client, connection: C) -> Result<Client, Failure>
    where
        C: Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static,
    {
        // It works while something of this runtime is waited for, and only then is it needed.
        self.runtime.spawn(connection);
        let limits = format!(
            "SET lock_timeout = '{}s'; SET idle_in_transaction_session_timeout = '{}s'",
            WAITING.as_secs(),
            STOPPED.as_secs()
        );
        self.runtime.block_on(client.batch_execute(&limits)).map_err(|error| failure(&error))?;
        Ok(client)
    }
}

struct PostgresTx<'a> {
    runtime: &'a Runtime,
    open: &'a mut Open,
}

impl PostgresTx<'_> {
    fn plain(&mut self, statement: &str) -> Result<(), Failure> {
        self.runtime.block_on(self.open.client.batch_execute(statement)).map_err(|error| failure(&error))
    }

    fn ready(&mut self, statement: &str) -> Result<Statement, Failure> {
        if let Some(ready) = self.open.statements.get(statement) {
            return Ok(ready.clone());
        }
        let ready = self
            .runtime
            .block_on(self.open.client.prepare(&statement.replace('?', "$")))
            .map_err(|error| failure(&error))?;
        self.open.statements.insert(statement.to_owned(), ready.clone());
        Ok(ready)
    }
}

impl Tx for PostgresTx<'_> {
    fn kind(&self) -> Kind {
        Kind::Postgres
    }

    fn run(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, Failure> {
        let ready = self.ready(statement)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        self.runtime.block_on(self.open.client.execute(&ready, &values)).map_err(|error| failure(&error))
    }

    fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let ready = self.ready(statement)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let rows = self
            .runtime
            .block_on(self.open.client.query(&ready, &values))
            .map_err(|error| failure(&error))?;
        rows.iter().map(row).collect()
    }
}

fn row(row: &tokio_postgres::Row) -> Result<Row, Failure> {
    let cells = row.columns().iter().enumerate().map(|(index, column)| {
        let of = |error: tokio_postgres::Error| failure(&error);
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index).map_err(of)?.map_or(Cell::Null, Cell::Int),
            Type::INT4 => {
                row.try_get::<_, Option<i32>>(index).map_err(of)?.map_or(Cell::Null, |n| Cell::Int(n.into()))
            }
            Type::BYTEA => {
                row.try_get::<_, Option<Vec<u8>>>(index).map_err(of)?.map_or(Cell::Null, Cell::Bytes)
            }
            Type::VOID => Cell::Null,
            _ => row.try_get::<_, Option<String>>(index).map_err(of)?.map_or(Cell::Null, Cell::Text),
        })
    });
    Ok(Row::new(cells.collect::<Result<Vec<_>, Failure>>()?))
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Value::Int(number) => number.to_sql(kind, out),
            // A text of PostgreSQL holds no NUL.
            Value::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(kind, out),
            Value::Text(text) => text.to_sql(kind, out),
            Value::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// What an error of PostgreSQL means for who asked.
fn failure(error: &tokio_postgres::Error) -> Failure {
    let why = told(error);
    let Some(code) = error.code() else {
        // No answer of the server at all: the connection is lost, or was never made.
        return tls::refusal(&why).map_or(Failure::Gone(why), Failure::Broken);
    };
    let again = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
        // This process was stopped in the middle, and the server has taken back what it had done.
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    let gone = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    match code {
        code if again.contains(code) => Failure::Again(why),
        code if gone.contains(code) || code.code().starts_with("08") => Failure::Gone(why),
        code if *code == SqlState::DISK_FULL => Failure::Broken(format!("{why}; make room on the server")),
        code if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            Failure::Broken(format!("{why}; name the server that may be written, not a copy of it"))
        }
        code if code.code().starts_with("28") => {
            Failure::Broken(format!("{why}; see the user and the password in its address"))
        }
        code if code.code().starts_with("3D") => Failure::Broken(format!("{why}; make it with `createdb`")),
        _ => Failure::Broken(why),
    }
}
