export { type PostgresOptions, type RunningPostgres, startPostgres } from './postgres.js'
export { runStart, type StartOptions } from './start/run-start.js'
export { findNginx } from './tools/nginx.js'
export { findRedisServer } from './tools/redis-server.js'
