import { branchRef, isRefName, tagRef } from '@switchyard/domain/commit'
import { objectChild } from '../processes/child-kinds.js'
import { linesOf, runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'

const timeoutMs = 60_000
/** Longest line of an answer, because git repeats the name of a missing reference. */
const answerLineBytes = 8_192

/** Finds the commit that a branch points to; null when there is no such branch. */
export async function findBranchTip(repository: Repository, branch: string): Promise<string | null> {
  if (!isRefName(branch)) return null
  const ref = branchRef(branch)
  return (await findRefs(repository, [ref])).get(ref) ?? null
}

/**
 * Finds the object that a tag points to; null when there is no such tag.
 *
 * @param tag a valid name
 */
export async function findTagTarget(repository: Repository, tag: string): Promise<string | null> {
  const ref = tagRef(tag)
  return (await findRefs(repository, [ref])).get(ref) ?? null
}

/**
 * Finds the object ids of references by name. Missing references are left out.
 *
 * @param names full, valid names
 */
export async function findRefs(
  repository: Repository,
  names: readonly string[],
): Promise<Map<string, string>> {
  const asked = names.flatMap((name) => [name, ...longerNames(name)])
  const question = {
    input: asked.map((name) => `info ${name}\n`).join(''),
    answerBytesMax: answerLineBytes * (asked.length + 1),
    timeoutMs,
  }
  const { bytes } = await repository.engine.children.ask(repository, objectChild, question)
  const ids = linesOf(bytes).map((line) => /^([0-9a-f]{40}) \w+ \d+$/.exec(line)?.[1])
  const found = new Map(asked.flatMap((name, index) => (ids[index] ? [[name, ids[index]] as const] : [])))
  const hasLongerNames = names.some((name) => longerNames(name).some((longer) => found.has(longer)))
  return hasLongerNames ? findExactRefs(repository, names) : found
}

/** Returns the names to which git completes a name when there is no reference of exactly this name. */
const longerNames = (name: string) =>
  ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map((folder) => folder + name)

async function findExactRefs(repository: Repository, names: readonly string[]): Promise<Map<string, string>> {
  const command = { command: 'for-each-ref', flags: ['--format=%(objectname) %(refname)'] }
  const { stdout } = await runGitOk(repository, { ...command, paths: [...names] })
  // A pattern also matches references below a folder of that name.
  const found = linesOf(stdout).map((line) => [line.slice(41), line.slice(0, 40)] as const)
  return new Map(found.filter(([name]) => names.includes(name)))
}
