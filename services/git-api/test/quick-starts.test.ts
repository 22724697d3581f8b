import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GitHarness, startGitHarness } from './git-harness.js'

const page = await readFile(resolve(import.meta.dirname, '../../../docs/quick-starts.md'), 'utf8')

/** Returns the program of a language, and its output according to the page; `…` stands for any text. */
function quickStart(language: string): { program: string; output: RegExp } {
  const block = new RegExp(`\`\`\`${language}\n([^\`]+)\`\`\`\n[^\`]*\`\`\`output\n([^\`]+)\n\`\`\``)
  const [, program, output] = block.exec(page) ?? []
  if (!program || !output) throw new Error(`docs/quick-starts.md has no example in ${language}`)
  const parts = output.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return { program, output: new RegExp(`^${parts.join('.*')}$`) }
}

let harness: GitHarness
let folder: string
beforeAll(async () => {
  harness = await startGitHarness()
  folder = await mkdtemp(join(tmpdir(), 'switchyard-quick-starts-'))
})
afterAll(async () => {
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})

interface Language {
  /** The name of the language in the page's code fence. */
  name: string
  /** The command, whose last argument is the file. Empty: not installed. */
  command: string[]
  file: string
  project: string
}

const programOf = (variable: string): string[] =>
  [process.env[variable] ?? ''].filter((program) => program !== '')

const languages: Language[] = [
  // The folder is beside this file, so that Node finds the library.
  {
    name: 'js',
    command: [process.execPath],
    file: join(import.meta.dirname, 'hello.mjs'),
    project: 'from-node',
  },
  {
    name: 'python',
    command: programOf('SWITCHYARD_TEST_GITLAB_PYTHON'),
    file: 'hello.py',
    project: 'from-python',
  },
  {
    name: 'ruby',
    command: programOf('SWITCHYARD_TEST_GITLAB_RUBY'),
    file: 'hello.rb',
    project: 'from-ruby',
  },
  {
    name: 'go',
    command: JSON.parse(process.env.SWITCHYARD_TEST_GITLAB_GO || '[]'),
    file: 'hello.go',
    project: 'from-go',
  },
  { name: 'sh', command: ['sh'], file: 'hello.sh', project: 'from-curl' },
]
for (const { name, command } of languages)
  if (command.length === 0)
    console.warn(`SKIPPED: the quick-start for ${name}, because its client was not found`)

it.each(languages.filter(({ command }) => command.length > 0))(
  'the quick-start for $name does what docs/quick-starts.md shows',
  async ({ name, command, file, project }) => {
    const { program, output } = quickStart(name)
    const path = resolve(folder, file)
    await writeFile(path, program)
    try {
      const env = {
        SWITCHYARD_URL: harness.baseUrl,
        SWITCHYARD_TOKEN: harness.tokens.developer,
        PYTHON_GITLAB_CFG: '',
        GOCACHE: join(folder, 'go-cache'),
        GITLAB_API_ENDPOINT: '',
        GITLAB_API_PRIVATE_TOKEN: '',
      }
      const { stdout } = await execa(command[0] ?? '', [...command.slice(1), path], {
        env,
        cwd: folder,
        timeout: 300_000,
      })
      expect(stdout).toMatch(output)
    } finally {
      await rm(path)
    }
    const read = await harness.ask('developer', 'GET', `/projects/dora%2F${project}/repository/commits/main`)
    expect(read.body).toMatchObject({ title: 'Say hello', status: 'success' })
  },
)
