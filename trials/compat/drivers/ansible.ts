import { expect } from 'vitest'
import type { Driver, Task } from '../driver.js'
import type { LabProject, Work } from '../work.js'

interface Given {
  work: Work
  project: LabProject
  member: { username: string }
}

/** Runs a module with its parameters, as the administrator. @returns whether it changed anything */
async function changes({ work }: Given, module: string, parameters: object): Promise<boolean> {
  const given = { api_url: work.url, api_token: work.adminToken, ...parameters }
  const play = {
    hosts: 'localhost',
    connection: 'local',
    gather_facts: false,
    tasks: [{ [`community.general.${module}`]: given }],
  }
  await work.write({ 'play.yml': JSON.stringify([play]) })
  const env = {
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_LOCALHOST_WARNING: 'false',
    ANSIBLE_PYTHON_INTERPRETER: '/usr/bin/python3',
  }
  const said = await work.run('/usr/bin/ansible-playbook', ['--inventory', 'localhost,', 'play.yml'], { env })
  return !/changed=0/.test(said)
}

/** Returns a task for a module, whose second run changes nothing. */
const twice = (module: string, parametersOf: (given: Given) => object, fails?: string): Task => ({
  title: `\`${module}\`, twice`,
  ...(fails && { fails }),
  run: async (work) => {
    const given = { work, project: await work.project(), member: await work.user() }
    const parameters = parametersOf(given)
    expect(await changes(given, module, parameters)).toBe(true)
    expect(await changes(given, module, parameters)).toBe(false)
  },
})

export const ansible: Driver = {
  tool: 'Ansible community.general',
  debian: ['ansible', 'python3-gitlab'],
  tasks: [
    twice('gitlab_project', ({ work }) => ({
      name: 'ansible-made',
      path: 'ansible-made',
      username: work.username,
      description: 'By the book',
      visibility: 'internal',
      merge_method: 'ff',
      issues_enabled: false,
      wiki_enabled: true,
      snippets_enabled: true,
      merge_requests_enabled: true,
      initialize_with_readme: true,
    })),
    twice('gitlab_branch', ({ project }) => ({ project: project.path, branch: 'topic', ref_branch: 'main' })),
    twice('gitlab_protected_branch', ({ project }) => ({
      project: project.path,
      name: 'release/*',
      merge_access_levels: 'maintainer',
      push_access_level: 'nobody',
    })),
    twice('gitlab_hook', ({ project }) => ({
      project: project.path,
      hook_url: 'https://ci.example.com/hook',
      push_events: true,
      tag_push_events: true,
      hook_validate_certs: false,
    })),
    twice('gitlab_user', ({ work }) => ({
      username: `ansible-${work.username}`,
      name: 'Ansible',
      email: 'ansible@example.com',
      password: 'long enough 8',
    })),
    twice('gitlab_project_members', ({ project, member }) => ({
      project: project.path,
      gitlab_user: member.username,
      access_level: 'developer',
    })),
    twice(
      'gitlab_project_variable',
      ({ project }) => ({ project: project.path, vars: { KEY: 'value' } }),
      'variables of CI are kept by the CI system',
    ),
    twice(
      'gitlab_deploy_key',
      ({ project }) => ({
        project: project.path,
        title: 'CI',
        key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA',
      }),
      'git is served over HTTP, so that there are no keys of SSH',
    ),
  ],
}
