export { type AppliedMigrations, applyMigrations } from './apply-migrations.js'
export { waitForDatabase } from './wait-for-database.js'
