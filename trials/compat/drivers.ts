import type { Driver } from './driver.js'
import { ansible } from './drivers/ansible.js'
import { giget } from './drivers/giget.js'
import { gitbeaker } from './drivers/gitbeaker.js'
import { gitlabCiLocal } from './drivers/gitlab-ci-local.js'
import { gitlabracadabra } from './drivers/gitlabracadabra.js'
import { isomorphicGit } from './drivers/isomorphic-git.js'
import { lerna } from './drivers/lerna.js'
import { mcpGitlab } from './drivers/mcp-gitlab.js'
import { npm } from './drivers/npm.js'
import { perlGitlab } from './drivers/perl-gitlab.js'
import { pythonGitlab } from './drivers/python-gitlab.js'
import { releaseIt } from './drivers/release-it.js'
import { rubyGitlab } from './drivers/ruby-gitlab.js'
import { salsaDriver } from './drivers/salsa.js'
import { semanticRelease } from './drivers/semantic-release.js'

/** Those that need no package of Debian and take a few seconds together: a part of `npm test`. */
export const quickDrivers: Driver[] = [gitbeaker, giget, isomorphicGit, npm]

/** All, in the order of the page. */
export const drivers: Driver[] = [
  ...quickDrivers,
  pythonGitlab,
  rubyGitlab,
  perlGitlab,
  mcpGitlab,
  semanticRelease,
  releaseIt,
  lerna,
  gitlabCiLocal,
  salsaDriver,
  gitlabracadabra,
  ansible,
]
