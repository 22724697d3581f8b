// Exits with 1, and prints the missing SQL, when the migrations do not lead to the schema.
import { diffDatabaseToSchema } from '../src/migrations/index.js'
import { withMigratedScratchDatabase } from './scratch-database.js'

const sql = await withMigratedScratchDatabase(diffDatabaseToSchema)
if (sql === '') {
  process.stdout.write('migrations and schema agree\n')
} else {
  process.stderr.write(
    `${sql}\n\nmigrations and schema disagree by this; \`pnpm generate migration NAME\` writes it as a migration\n`,
  )
  process.exitCode = 1
}
