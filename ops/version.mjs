// Makes the commit before a release: the version that the changesets ask for, and what the changelog says of
// it.
import { takeChangesets } from './release/take-changesets.mjs'
import { readArguments } from './setup/arguments.mjs'
import { root } from './setup/bootstrap.mjs'
import { SetupProblem } from './setup/setup-step.mjs'

readArguments(`pnpm release:version
  Gives everything the version that the changesets ask for, and CHANGELOG.md a section about it. Commit what it has changed, and run
  "pnpm release" in that commit.`)
try {
  console.log(`everything has the version ${takeChangesets(root)}: look at CHANGELOG.md, and commit`)
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error
  console.error(`✗ ${error.message}`)
  process.exitCode = 1
}
