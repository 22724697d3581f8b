import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import type { Work } from '../work.js'

async function salsa(work: Work, ...args: string[]) {
  await work.write({ '.devscripts': `SALSA_API_URL=${work.url}/api/v4\nSALSA_TOKEN=${work.token}\n` })
  return await work.run('/usr/bin/salsa', ['--yes', ...args])
}

export const salsaDriver: Driver = {
  tool: 'salsa (devscripts)',
  debian: ['devscripts', 'libgitlab-api-v4-perl'],
  tasks: [
    {
      title: 'says who the token is of, finds projects',
      run: async (work) => {
        const { name } = await work.project()
        expect(await salsa(work, 'whoami')).toContain(work.username)
        expect(await salsa(work, 'search_project', name)).toContain(name)
      },
    },
    {
      title: 'finds a user by name',
      fails: 'salsa asks for the user whose id is the name, which GitLab refuses as well',
      run: (work) => salsa(work, 'search_user', work.username),
    },
    {
      title: 'makes, lists, updates and deletes a project',
      run: async (work) => {
        await salsa(work, 'create_repo', 'salsa-made', '--desc')
        expect(await salsa(work, 'list_repos')).toContain('salsa-made')
        await salsa(work, 'update_repo', 'salsa-made', '--desc')
        await salsa(work, 'del_repo', 'salsa-made')
        await expect(work.api('GET', `/projects/${work.username}%2Fsalsa-made`)).rejects.toThrow('404')
      },
    },
    {
      title: 'protects a branch, says how CI went',
      run: async (work) => {
        const { id, name, path } = await work.project()
        await salsa(work, 'protect_branch', name, 'main', 'm', 'd')
        const [main] = await work.api('GET', `/projects/${id}/protected_branches`)
        expect(main.push_access_levels[0].access_level).toBe(30)
        await work.api('POST', `/projects/${id}/statuses/main`, { state: 'success' })
        expect(await salsa(work, 'last_ci_status', path)).toContain('success')
      },
    },
  ],
}
