import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import type { LabProject, Work } from '../work.js'

/** Returns the configuration of a project for the tool. */
const wantedOf = ({ path }: LabProject, member: string) => `${path}:
  create_object: true
  description: By the book
  visibility: internal
  tag_list: [tools, tried]
  issues_access_level: disabled
  merge_requests_access_level: enabled
  lfs_enabled: true
  merge_method: ff
  only_allow_merge_if_pipeline_succeeds: true
  squash_option: never
  default_branch: main
  members:
    ${member}: developer
  unknown_members: ignore
  protected_branches:
    main:
      merge_access_level: maintainer
      push_access_level: noone
    release/*:
      merge_access_level: maintainer
      push_access_level: maintainer
  protected_tags:
    v*: maintainer
  webhooks:
    - url: https://ci.example.com/hook
      push_events: true
      tag_push_events: true
      enable_ssl_verification: true
`

const run = (work: Work) => work.run('/usr/bin/gitlabracadabra', ['--verbose', 'wanted.yml'])

export const gitlabracadabra: Driver = {
  tool: 'gitlabracadabra',
  debian: ['gitlabracadabra', 'python3-gitlab'],
  tasks: [
    {
      setting: 'the token of an administrator, who alone lists users',
      title: 'makes a project with settings, members, protection and a webhook; a second run changes nothing',
      run: async (work) => {
        const { id, ...project } = await work.project()
        const member = await work.user()
        const connection = `[global]\ndefault = lab\n[lab]\nurl = ${work.url}\nprivate_token = ${work.adminToken}\n`
        await work.write({
          '.python-gitlab.cfg': connection,
          'wanted.yml': wantedOf({ id, ...project }, member.username),
        })
        await run(work)
        expect(await work.api('GET', `/projects/${id}`)).toMatchObject({
          description: 'By the book',
          visibility: 'internal',
          issues_access_level: 'disabled',
          merge_method: 'ff',
        })
        const hooks = await work.api('GET', `/projects/${id}/hooks`)
        expect(hooks).toMatchObject([{ tag_push_events: true }])
        const again = await run(work)
        expect(again, again).not.toMatch(/chang|creat|add|delet|remov|updat|warning|error/i)
      },
    },
  ],
}
