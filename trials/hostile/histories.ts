import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A repository that the attacker pushes. */
export interface History {
  folder: string
}

const who = 'A <a@example.com> 1700000000 +0000'

/** Runs git, and returns its output. */
async function git(folder: string, args: string[], input: Iterable<string> = []): Promise<string> {
  const child = spawn('git', ['-C', folder, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await pipeline(Readable.from(input), child.stdin)
  const [code] = await ended
  if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}`)
  return output.trim()
}

async function created(stream: Iterable<string>): Promise<History> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-history-'))
  await git(folder, ['init', '--quiet', '--bare', '--initial-branch=main'])
  await git(folder, ['fast-import', '--quiet', '--done'], stream)
  return { folder }
}

/** Pushes everything, and removes the folder. */
export async function fill(remote: string, { folder }: History): Promise<void> {
  await git(folder, ['push', '--quiet', '--all', remote])
  await rm(folder, { recursive: true, force: true })
}

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`

/** Returns lines that no other file has. */
const lines = (seed: string, count: number) =>
  Array.from({ length: count }, (_, line) => createHash('md5').update(`${seed} ${line}`).digest('hex')).join(
    '\n',
  )

const filesCount = 900
const sameTrees = 80

/** Makes 900 files of 18 KB that are renamed and half changed, and 80 commits of the same two trees. */
export async function renames(): Promise<{ history: History; commits: string[] }> {
  function* stream() {
    yield `commit refs/heads/main\ncommitter ${who}\n${data('first')}`
    for (let file = 0; file < filesCount; file += 1)
      yield `M 644 inline old/${file}\n${data(`${lines(`${file}`, 280)}\n${lines(`${file} old`, 280)}`)}`
    yield `commit refs/heads/main\ncommitter ${who}\n${data('second')}deleteall\n`
    for (let file = 0; file < filesCount; file += 1)
      yield `M 644 inline new/${file}\n${data(`${lines(`${file}`, 280)}\n${lines(`${file} new`, 280)}`)}`
    yield 'done\n'
  }
  const history = await created(stream())
  const { folder } = history
  const [first = '', second = ''] = (await git(folder, ['rev-parse', 'main~1', 'main^{tree}'])).split('\n')
  await git(folder, ['config', 'user.name', 'A'])
  await git(folder, ['config', 'user.email', 'a@example.com'])
  const commits: string[] = []
  for (let number = 0; number < sameTrees; number += 1) {
    const id = await git(folder, ['commit-tree', second, '-p', first, '-m', String(number)])
    await git(folder, ['update-ref', `refs/heads/same-${number}`, id])
    commits.push(id)
  }
  return { history, commits }
}

/** Makes that many commits, each of which changes one of two files. */
export function longHistory(commits: number): Promise<History> {
  function* stream() {
    for (let number = 0; number < commits; number += 1) {
      const file = number % 2 === 0 ? 'f' : 'g'
      yield `commit refs/heads/main\ncommitter ${who}\n${data(String(number))}M 644 inline ${file}\n${data(String(number))}`
    }
    yield 'done\n'
  }
  return created(stream())
}

/** Makes a file of that many lines, and a commit that changes each of them. */
export function rewrittenLines(count: number): Promise<History> {
  const numbered = (word: string) =>
    data(Array.from({ length: count }, (_, line) => `${word}${line}`).join('\n'))
  return created([
    `commit refs/heads/main\ncommitter ${who}\n${data('first')}M 644 inline lines\n`,
    numbered('a'),
    `commit refs/heads/main\ncommitter ${who}\n${data('second')}M 644 inline lines\n`,
    numbered('b'),
    'done\n',
  ])
}
