/** Names and contents as trees store them, with one character for each byte. */
type Bytes = string
type Random = () => number

interface StoredFile {
  mode: string
  content: Bytes
}

type Tree = ReadonlyMap<Bytes, StoredFile>

const utf8 = (text: string): Bytes => Buffer.from(text).toString('latin1')

/** Names: few enough to occur repeatedly, with every kind that needs care. */
const names: Bytes[] = [
  'a',
  'b.txt',
  'lib',
  'sp ace',
  '-x',
  'tab\there',
  'q"uote',
  'back\\slash',
  'new\nline',
  '\xe9t\xe9',
  '*',
  '[ab]',
  ':(top)a',
  '..c',
  'a b/c',
  'diff --git a',
  utf8('größe'),
  utf8('日本'),
  '\x01',
  'Makefile',
]
const lines: Bytes[] = [
  'one',
  'two',
  '',
  'three',
  '--- a/x',
  '+++ b/x',
  '@@ -1 +1 @@',
  'diff --git a/x b/x',
  '\ttab',
  'cr\r',
  '\\ No newline at end of file',
  'Binary files differ',
  '}',
  '{',
  'function f() {',
  'caf\xe9',
  utf8('né'),
]
export const authors = ['Ann Ä <ann@example.com>', 'Bob.* <bob@x.org>', 'bobby [B] <b@b>', 'Zoë <zoe@x.org>']

interface Dice {
  random: Random
  upTo(max: number): number
  pick<T>(values: readonly T[]): T
}

const diceOf = (random: Random): Dice => ({
  random,
  upTo: (max) => Math.floor(random() * max),
  pick: (values) => values[Math.floor(random() * values.length)] as (typeof values)[number],
})

/**
 * Generates a stream for `git fast-import`: commits that add, edit, move, copy, remove and change the kind of
 * files of all sorts, branch and merge, with dates that go back and forth.
 */
export function changingHistory(random: Random, commits: number): Buffer {
  const dice = diceOf(random)
  const trees: Tree[] = []
  const parts: Bytes[] = []
  for (let mark = 1; mark <= commits; mark += 1) {
    const parents = parentsOf(dice, mark)
    const before: Tree = trees[(parents[0] ?? 0) - 1] ?? new Map()
    const sides = parents.slice(1).map((parent) => trees[parent - 1] as Tree)
    const { tree, commands } = change(dice, before, sides)
    trees.push(tree)
    parts.push(header(dice, mark, parents), ...commands, '\n')
  }
  return Buffer.from(`${parts.join('')}done\n`, 'latin1')
}

function parentsOf({ random, upTo }: Dice, mark: number): number[] {
  if (mark === 1 || random() < 0.01) return []
  const recent = () => mark - 1 - upTo(Math.min(8, mark - 1))
  const parents = new Set([random() < 0.7 ? mark - 1 : recent()])
  const further = random() < 0.2 ? 1 + (random() < 0.2 ? 2 : 0) : 0
  for (let count = 0; count < further; count += 1) parents.add(recent())
  return [...parents]
}

function header({ random, upTo, pick }: Dice, mark: number, parents: number[]): Bytes {
  const seconds = 1_600_000_000 + mark * 60 + (random() < 0.2 ? upTo(600) - 300 : 0)
  const message = random() < 0.05 ? '' : `Change ${mark}\n\n${pick(lines)}\n`
  const branch = parents.length === 0 || random() < 0.85 ? 'main' : `topic/${upTo(3)}`
  return [
    `commit refs/heads/${branch}\nmark :${mark}\n`,
    `author ${utf8(pick(authors))} ${seconds - upTo(900)} +0530\n`,
    `committer ${utf8(pick(authors))} ${seconds} -0800\n`,
    data(message),
    parents[0] === undefined ? '' : `from :${parents[0]}\n`,
    ...parents.slice(1).map((parent) => `merge :${parent}\n`),
  ].join('')
}

const data = (content: Bytes) => `data ${content.length}\n${content}\n`

interface Changed {
  tree: Map<Bytes, StoredFile>
  commands: Bytes[]
}

function change(dice: Dice, before: Tree, sides: Tree[]): Changed {
  const changed: Changed = { tree: new Map(before), commands: [] }
  // A merge takes over some files of the other side, so its own changes are few.
  for (const side of sides) for (const [path, file] of side) if (dice.random() < 0.7) put(changed, path, file)
  const count = sides.length > 0 ? dice.upTo(2) : dice.upTo(5)
  for (let index = 0; index < count; index += 1) changeOne(dice, changed)
  return changed
}

function changeOne(dice: Dice, changed: Changed): void {
  const path = dice.pick([...changed.tree.keys(), ''])
  const file = changed.tree.get(path)
  const chance = dice.random()
  if (!file || chance < 0.12) put(changed, newPath(dice), newFile(dice))
  else if (chance < 0.45) put(changed, path, { ...file, content: edited(dice, file.content) })
  else if (chance < 0.7) moveOrCopy(dice, changed, path, file)
  else if (chance < 0.8) remove(changed, path)
  else if (chance < 0.9) put(changed, path, { ...file, mode: flippedMode(file.mode) })
  else put(changed, path, newFile(dice))
}

function moveOrCopy(dice: Dice, changed: Changed, path: Bytes, file: StoredFile): void {
  if (dice.random() < 0.8) remove(changed, path)
  put(changed, newPath(dice), dice.random() < 0.5 ? file : { ...file, content: edited(dice, file.content) })
}

const flippedMode = (mode: string) => (mode === '100644' ? '100755' : mode === '100755' ? '100644' : mode)

function newPath({ upTo, pick }: Dice): Bytes {
  return Array.from({ length: 1 + upTo(2) }, () => pick(names)).join('/')
}

function newFile(dice: Dice): StoredFile {
  const chance = dice.random()
  if (chance < 0.06) return { mode: '120000', content: dice.pick(names) }
  // Git's index refuses an id of zeros.
  if (chance < 0.1) return { mode: '160000', content: String(1 + dice.upTo(9)).repeat(40) }
  if (chance < 0.2) return { mode: '100644', content: `\0${dice.pick(lines)}${dice.upTo(9)}` }
  if (chance < 0.25) return { mode: '100644', content: '' }
  const text = Array.from({ length: 4 + dice.upTo(30) }, () => dice.pick(lines))
  return { mode: dice.random() < 0.1 ? '100755' : '100644', content: ended(dice, text) }
}

const ended = ({ random }: Dice, text: Bytes[]): Bytes =>
  text.join(random() < 0.15 ? '\r\n' : '\n') + (random() < 0.8 ? '\n' : '')

function edited(dice: Dice, content: Bytes): Bytes {
  if (content.includes('\0')) return content + dice.upTo(10)
  const text = content.split('\n')
  for (let count = 0; count <= dice.upTo(3); count += 1)
    text.splice(dice.upTo(text.length + 1), dice.upTo(3), dice.pick(lines))
  return dice.random() < 0.05 ? ended(dice, text) : text.join('\n')
}

/** Puts a file. A file replaces a folder of its name, and a folder a file. */
function put({ tree, commands }: Changed, path: Bytes, file: StoredFile): void {
  for (const other of [...tree.keys()])
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other)
  const content =
    file.mode === '160000' && !/^[0-9a-f]{40}$/.test(file.content) ? '1'.repeat(40) : file.content
  tree.set(path, { ...file, content })
  if (file.mode === '160000') commands.push(`M 160000 ${content} ${quoted(path)}\n`)
  else commands.push(`M ${file.mode} inline ${quoted(path)}\n`, data(content))
}

function remove({ tree, commands }: Changed, path: Bytes): void {
  tree.delete(path)
  commands.push(`D ${quoted(path)}\n`)
}

/** Quotes a name of any bytes, as `git fast-import` and `git apply` read it. */
export const quoted = (path: Bytes) =>
  `"${path.replace(/[^ !#-[\]-~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`
