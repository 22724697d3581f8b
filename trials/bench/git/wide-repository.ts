import { builtRepository, data, seededRandom } from './make-repository.js'

/** Files of one folder, each of 20 KB; every commit changes another one. */
const wideFiles = 100
const wideBytes = 20_000
const commits = 1_000
/** Files of another folder, together 100 MB. */
const bulkFiles = 400
const bulkBytes = 250_000

export const wideFile = (number: number) => `wide/file-${number % wideFiles}.txt`
export const bulkFolder = 'bulk'

/** Makes a repository with a folder of 100 files, a folder of 100 MB, and 1,000 commits. @returns its path */
export const wideRepository = (): Promise<string> => builtRepository('wide', historyOf)

function* historyOf(): Generator<string> {
  const random = seededRandom(commits)
  const upTo = (max: number) => Math.floor(random() * max)
  const words = Array.from({ length: 4_000 }, () =>
    random()
      .toString(36)
      .slice(2, 3 + upTo(10)),
  )
  const line = () => Array.from({ length: 12 }, () => words[upTo(words.length)]).join(' ')
  const linesOf = (bytes: number) => {
    const lines: string[] = []
    for (let size = 0; size < bytes; size += (lines.at(-1)?.length ?? 0) + 1) lines.push(line())
    return lines
  }
  const write = (path: string, lines: string[]) => `M 100644 inline ${path}\n${data(`${lines.join('\n')}\n`)}`
  const wide = Array.from({ length: wideFiles }, () => linesOf(wideBytes))
  yield header(1, 'Begin')
  for (const [number, lines] of wide.entries()) yield write(wideFile(number), lines)
  for (let number = 0; number < bulkFiles; number += 1) {
    yield write(`${bulkFolder}/${number % 20}/${number}.txt`, linesOf(bulkBytes))
  }
  yield '\n'
  for (let mark = 2; mark <= commits; mark += 1) {
    const lines = wide[mark % wideFiles] as string[]
    for (let edit = 0; edit < 3; edit += 1) lines[upTo(lines.length)] = line()
    yield `${header(mark, `Change ${mark}`)}from :${mark - 1}\n${write(wideFile(mark), lines)}\n`
  }
}

const header = (mark: number, message: string) => {
  const seconds = 1_500_000_000 + mark * 600
  return `commit refs/heads/main\nmark :${mark}\ncommitter Bench <bench@example.com> ${seconds} +0000\n${data(message)}`
}
