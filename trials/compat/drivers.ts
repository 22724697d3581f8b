import type { Driver } from './driver.js'
import { gitbeaker } from './drivers/gitbeaker.js'
import { perlGitlab } from './drivers/perl-gitlab.js'
import { pythonGitlab } from './drivers/python-gitlab.js'
import { releaseIt } from './drivers/release-it.js'
import { rubyGitlab } from './drivers/ruby-gitlab.js'
import { semanticRelease } from './drivers/semantic-release.js'

/** Those that need no package of Debian and take a few seconds together: a part of `npm test`. */
export const quickDrivers: Driver[] = [gitbeaker]

/** All, in the order of the page. */
export const drivers: Driver[] = [
  ...quickDrivers,
  pythonGitlab,
  rubyGitlab,
  perlGitlab,
  semanticRelease,
  releaseIt,
]
