import { commitsOf, fileOf, type GitApi, makeProject, withGitApi } from './git-projects.js'
import { askAll, expectAnswer, type Figure, measureSizes, pick, type Subject } from './measure.js'

/** One repository of growing size, with first reads of its commits by CI and readers. */
export const commits: Subject = {
  unit: 'commits of a repository',
  sizes: [10_000, 100_000, 1_000_000],
  run: (sizes, tell) =>
    withGitApi((gitApi) => measureSizes(sizes, (size, turn) => measure(gitApi, size, turn), tell)),
}

async function measure(gitApi: GitApi, size: number, turn: number): Promise<Figure[]> {
  const project = await makeProject(gitApi, `commits-${turn}`, size)
  const ids = commitsOf(project.path)
  // The older half is left out, because its histories may be shorter than a page.
  const newer = ids.slice(0, ids.length / 2)
  const base = `/api/v4/projects/${project.id}/repository`
  const get = (path: string) => gitApi.client.get(base + path).then(expectAnswer)
  const path = (index: number) => encodeURIComponent(fileOf(index))
  return askAll([
    { name: '20 commits', ask: (index) => get(`/commits?ref_name=${pick(ids, index)}`) },
    {
      name: '20 commits of a file',
      ask: (index) => get(`/commits?ref_name=${pick(newer, index)}&path=${path(index)}`),
    },
    {
      name: 'raw file',
      ask: (index) => get(`/files/${path(index)}/raw?ref=${pick(newer, index + 1000)}`),
    },
    {
      name: 'page of a tree',
      ask: (index) => get(`/tree?ref=${pick(ids, index + 2000)}&path=folder-${index % 16}`),
    },
    { name: 'commit with stats', ask: (index) => get(`/commits/${pick(ids, index + 3000)}`) },
    {
      name: 'commit made',
      ask: (index) => gitApi.client.post(`${base}/commits`, changeOf(index)).then(expectAnswer),
    },
  ])
}

const changeOf = (index: number) => ({
  branch: 'main',
  commit_message: `Change ${index}`,
  actions: [{ action: 'update', file_path: fileOf(index), content: `Text ${index}\n`.repeat(80) }],
})
