import { once } from 'node:events'
import { basename, dirname } from 'node:path'
import { argumentsOf, spawnGit } from '@switchyard/git-storage/processes'

/**
 * The baseline of diffs: two `git diff-tree --stdin` that receive one commit after the other, without
 * anything else.
 */
const [path = '', seconds = '3'] = process.argv.slice(2)
const flags = ['--stdin', '-r', '-M', '--root', '--diff-merges=first-parent', '--always']
const patch = ['-z', '--raw', '--patch', '--no-color', '--full-index']
const mark = 'the-end-of-an-answer'
/** Warm-up, because new processes have read nothing yet, unlike those that they are compared with. */
const warmUpSeconds = 2

async function askAll(nextId: () => string): Promise<number> {
  const command = { command: 'diff-tree', flags: [...flags, ...patch] }
  const child = spawnGit(argumentsOf(`${dirname(path)}/${basename(path)}`, command))
  let answers = 0
  let tail = ''
  const from = performance.now() + warmUpSeconds * 1000
  const until = from + Number(seconds) * 1000
  for (let now = performance.now(); now < until; now = performance.now()) {
    child.stdin.write(`${nextId()}\n${mark}\n`)
    do {
      const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 64))).slice(-64)
    } while (!tail.endsWith(`${mark}\n`))
    tail = ''
    if (now >= from) answers += 1
  }
  child.kill('SIGKILL')
  return answers
}

process.once('message', async (ids: string[]) => {
  let next = 0
  const nextId = () => ids[next++ % ids.length] ?? ''
  const counts = await Promise.all([askAll(nextId), askAll(nextId)])
  process.send?.((counts[0] ?? 0) + (counts[1] ?? 0), () => process.disconnect())
})
