import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupProblem } from '../setup/setup-step.mjs'

const changeset = fileURLToPath(import.meta.resolve('@changesets/cli/bin.js'))

/**
 * Gives every package of a checkout, and the checkout itself, the version that its changesets ask for. Moves
 * the texts of the changesets to a section of CHANGELOG.md, and deletes the changesets.
 *
 * @returns the version
 * @throws SetupProblem without a changeset
 */
export function takeChangesets(root) {
  const folder = join(root, '.changeset')
  const names = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md')
  if (names.length === 0) throw new SetupProblem('no changeset says what is new: type "pnpm changeset"')
  const items = names.sort().map((name) => itemOf(readFileSync(join(folder, name), 'utf8')))
  execFileSync(process.execPath, [changeset, 'version'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const version = versionOf(root)
  replaceIn(join(root, 'package.json'), /"version": "[^"]*"/, `"version": "${version}"`)
  replaceIn(join(root, 'CHANGELOG.md'), /^(# .*\n)\n/, (_, title) =>
    [title, `## ${version}\n`, ...items, '\n'].join('\n'),
  )
  return version
}

/** Returns the text of a changeset, without its list of packages, as an item of a list. */
const itemOf = (text) =>
  `- ${text
    .replace(/^---\n.*?^---\n/ms, '')
    .trim()
    .replaceAll(/\n(?=.)/g, '\n  ')}`

/** Returns the version of any package, because `fixed` in the configuration keeps their versions equal. */
function versionOf(root) {
  const [first] = readdirSync(join(root, 'packages'))
  return JSON.parse(readFileSync(join(root, 'packages', first, 'package.json'), 'utf8')).version
}

const replaceIn = (file, pattern, replacement) =>
  writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, replacement))
