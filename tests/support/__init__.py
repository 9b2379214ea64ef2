"""What the tests share: a PostgreSQL to test against, stores, a server to call, people to call it as."""
