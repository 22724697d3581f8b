import type { npmTools } from './tools.js'
import type { LabProject, Work } from './work.js'

/** What one tool is tried with. */
export interface Driver {
  /** As the page names it. */
  tool: string
  /** Its package, of the table in tools.ts. */
  npm?: keyof typeof npmTools
  /** Debian's packages that it needs. The first one has its version. */
  debian?: string[]
  /** Where neither has the version. */
  version?: () => Promise<string>
  tasks: Task[]
}

/** Something that users of a tool do with it. */
export interface Task {
  title: string
  /** What it takes to work, in Markdown: the page says `with a setting`. */
  setting?: string
  /** Why it does not work, in Markdown: the task rejects, and the page says `no`. */
  fails?: string
  /** Resolves when the tool did what its users expect of it. */
  run: (work: Work) => Promise<unknown>
}

/** How a task went. */
export interface Result {
  driver: Driver
  version: string
  task: Task
  /** Why it was not run. */
  notRun?: string
  /** Its last words, where it failed. */
  error?: string
  /** The calls that were answered 4xx or 5xx, each once, in their order. */
  refused: string[]
}

/** Whether a task went as its driver says. */
export const isExpected = ({ task, error }: Result): boolean => (error === undefined) !== Boolean(task.fails)

/** A task that needs more of its project. */
interface Prepared {
  title: string
  prepare: (work: Work, project: LabProject) => Promise<unknown>
}

/**
 * Tasks of a library: a program of its language in `programs/` does each of them, with the name of the task
 * as its argument and with URL, TOKEN, ADMIN_TOKEN, USERNAME, PROJECT and PROJECT_PATH in its environment.
 * The project has one commit.
 *
 * @param titles by the names of the tasks
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

/** The project has the submodule `lib` at its own commit. */
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
