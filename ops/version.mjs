// Prepares the commit of a release: sets the version that the changesets ask for, and writes its section of
// the changelog.
import { takeChangesets } from './release/take-changesets.mjs'
import { readArguments } from './setup/arguments.mjs'
import { root } from './setup/bootstrap.mjs'
import { SetupProblem } from './setup/setup-step.mjs'

readArguments(`pnpm release:version
  Gives every package the version that the changesets ask for, and moves their texts to a section of CHANGELOG.md. Commit the changes,
  then run "pnpm release" in that commit.`)
try {
  console.log(`every package has the version ${takeChangesets(root)}: check CHANGELOG.md, and commit`)
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error
  console.error(`✗ ${error.message}`)
  process.exitCode = 1
}
