export { applyMigrations } from './apply-migrations.js'
export { diffDatabaseToSchema } from './diff-schema.js'
export { listShippedMigrations } from './shipped-migrations.js'
