import type { Driver } from '../driver.js'

export const danger: Driver = {
  tool: 'danger',
  npm: 'danger',
  tasks: [
    {
      title: 'comments on a merge request',
      fails: 'there are no merge requests',
      run: async (work) => {
        const project = await work.project({ 'dangerfile.js': 'message("Well done")\n' })
        const cwd = await work.clone(project)
        const env = {
          GITLAB_CI: 'true',
          CI_API_V4_URL: `${work.url}/api/v4`,
          CI_MERGE_REQUEST_IID: '1',
          CI_MERGE_REQUEST_PROJECT_PATH: project.path,
          CI_PROJECT_PATH: project.path,
          DANGER_GITLAB_API_BASE_URL: `${work.url}/api/v4`,
          DANGER_GITLAB_API_TOKEN: work.token,
          DANGER_GITLAB_HOST: work.url,
        }
        await work.runNode('danger/distribution/commands/danger-ci.js', ['--failOnErrors'], { cwd, env })
      },
    },
  ],
}
