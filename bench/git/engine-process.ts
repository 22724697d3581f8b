import { once } from 'node:events'
import { basename, dirname } from 'node:path'
import { argumentsOf, spawnGit } from '../../services/git-api/src/git/git-process.js'

/** The baseline of diffs: two `git diff-tree --stdin`, asked for one commit after the other, and nothing else. */
const [path = '', seconds = '3'] = process.argv.slice(2)
const flags = ['--stdin', '-r', '-M', '--root', '--diff-merges=first-parent', '--always']
const patch = ['-z', '--raw', '--patch', '--no-color', '--full-index']
const mark = 'the-end-of-an-answer'

async function askAll(ids: string[], until: number): Promise<number> {
  const command = { command: 'diff-tree', flags: [...flags, ...patch] }
  const child = spawnGit(argumentsOf(`${dirname(path)}/${basename(path)}`, command))
  let answers = 0
  let tail = ''
  while (performance.now() < until) {
    child.stdin.write(`${ids[answers % ids.length]}\n${mark}\n`)
    do {
      const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 64))).slice(-64)
    } while (!tail.endsWith(`${mark}\n`))
    tail = ''
    answers += 1
  }
  child.kill('SIGKILL')
  return answers
}

process.once('message', async (ids: string[]) => {
  const until = performance.now() + Number(seconds) * 1000
  const half = Math.ceil(ids.length / 2)
  const counts = await Promise.all([askAll(ids.slice(0, half), until), askAll(ids.slice(half), until)])
  process.send?.((counts[0] ?? 0) + (counts[1] ?? 0), () => process.disconnect())
})
