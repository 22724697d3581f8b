import type { npmTools } from './tools.js'
import type { LabProject, Work } from './work.js'

/** One tool with its tasks. */
export interface Driver {
  /** Name of the tool on the page. */
  tool: string
  /** Its npm package, a key of the table in tools.ts. */
  npm?: keyof typeof npmTools
  /** Debian's packages that it needs. The first one determines the version. */
  debian?: string[]
  /** Returns the version when neither package has it. */
  version?: () => Promise<string>
  tasks: Task[]
}

/** A use of a tool. */
export interface Task {
  title: string
  /** The setting that the task requires, in Markdown: the page says `with a setting`. */
  setting?: string
  /** The reason of the expected failure, in Markdown: the task rejects, and the page says `no`. */
  fails?: string
  /** Resolves when the tool has done what its users expect. */
  run: (work: Work) => Promise<unknown>
}

/** The result of a task. */
export interface Result {
  driver: Driver
  version: string
  task: Task
  /** The reason why it was not run. */
  notRun?: string
  /** Its last output when it failed. */
  error?: string
  /** The calls that were answered with 4xx or 5xx, each once, in order. */
  refused: string[]
}

/** Returns whether a task has the result that its driver declares. */
export const isExpected = ({ task, error }: Result): boolean => (error === undefined) !== Boolean(task.fails)

/** A task whose project needs preparation. */
interface Prepared {
  title: string
  prepare: (work: Work, project: LabProject) => Promise<unknown>
}

/**
 * Returns tasks of a library: a program of its language in `programs/` runs each of them, with the name of
 * the task as its argument and with URL, TOKEN, ADMIN_TOKEN, USERNAME, PROJECT and PROJECT_PATH in its
 * environment. The project has one commit.
 *
 * @param titles titles by the names of the tasks
 */
export function programTasks(
  command: string[],
  file: string,
  titles: { [name: string]: string | Prepared },
  environment: { [name: string]: string } = {},
): Task[] {
  return Object.entries(titles).map(([name, given]) => ({
    title: typeof given === 'string' ? given : given.title,
    run: async (work) => {
      const project = await work.project()
      if (typeof given === 'object') await given.prepare(work, project)
      const env = { ...environment, PROJECT: String(project.id), PROJECT_PATH: project.path }
      const [program = '', ...args] = [...command, work.program(file), name]
      await work.run(program, args, { env })
    },
  }))
}

/** A task whose project has the submodule `lib` at its own commit. */
export const submoduleTask: Prepared = {
  title: 'moves a submodule to another commit',
  prepare: async (work, project) => {
    const cwd = await work.clone(project)
    const git = (...args: string[]) => work.run('git', args, { cwd })
    const head = (await git('rev-parse', 'HEAD')).trim()
    await work.write({ '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = ../lib.git\n' }, cwd)
    await git('add', '.gitmodules')
    await git('update-index', '--add', '--cacheinfo', `160000,${head},lib`)
    await git('commit', '--quiet', '--message', 'Add a submodule')
    await git('push', '--quiet')
  },
}
