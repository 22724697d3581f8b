import type { Driver } from './driver.js'
import { ansible } from './drivers/ansible.js'
import { backstage } from './drivers/backstage.js'
import { breezy } from './drivers/breezy.js'
import { cargo } from './drivers/cargo.js'
import { changesetsGitlab } from './drivers/changesets-gitlab.js'
import { composer } from './drivers/composer.js'
import { danger } from './drivers/danger.js'
import { dulwich } from './drivers/dulwich.js'
import { giget } from './drivers/giget.js'
import { gitAnnex } from './drivers/git-annex.js'
import { gitCliff } from './drivers/git-cliff.js'
import { gitRemoteGcrypt } from './drivers/git-remote-gcrypt.js'
import { gitbeaker } from './drivers/gitbeaker.js'
import { gitlabCiLocal } from './drivers/gitlab-ci-local.js'
import { gitlabracadabra } from './drivers/gitlabracadabra.js'
import { goGit } from './drivers/go-git.js'
import { goGitlab } from './drivers/go-gitlab.js'
import { goModules } from './drivers/go-modules.js'
import { hgGit } from './drivers/hg-git.js'
import { isomorphicGit } from './drivers/isomorphic-git.js'
import { jgit } from './drivers/jgit.js'
import {
  glab,
  goreleaser,
  infracost,
  pipelinesExporter,
  pythonGitlab8,
  pythonSemanticRelease,
  teamCity,
} from './drivers/known-calls.js'
import { lerna } from './drivers/lerna.js'
import { libgit2 } from './drivers/libgit2.js'
import { mcpGitlab } from './drivers/mcp-gitlab.js'
import { notHadDrivers } from './drivers/not-had.js'
import { npm } from './drivers/npm.js'
import { perlGitlab } from './drivers/perl-gitlab.js'
import { pythonGitlab } from './drivers/python-gitlab.js'
import { r10k } from './drivers/r10k.js'
import { releaseIt } from './drivers/release-it.js'
import { renovate } from './drivers/renovate.js'
import { rubyGitlab } from './drivers/ruby-gitlab.js'
import { salsaDriver } from './drivers/salsa.js'
import { semanticRelease } from './drivers/semantic-release.js'
import { webhookReceivers } from './drivers/webhook-receivers.js'

/** Drivers that need no Debian package and take a few seconds together: a part of `npm test`. */
export const quickDrivers: Driver[] = [gitbeaker, giget, isomorphicGit, npm]

/** All drivers, in the order of the page. */
export const drivers: Driver[] = [
  ...quickDrivers,
  pythonGitlab,
  pythonGitlab8,
  rubyGitlab,
  perlGitlab,
  goGitlab,
  mcpGitlab,
  semanticRelease,
  releaseIt,
  goreleaser,
  pythonSemanticRelease,
  lerna,
  changesetsGitlab,
  gitCliff,
  renovate,
  danger,
  gitlabCiLocal,
  salsaDriver,
  gitlabracadabra,
  ansible,
  backstage,
  composer,
  cargo,
  goModules,
  r10k,
  goGit,
  dulwich,
  libgit2,
  jgit,
  gitAnnex,
  gitRemoteGcrypt,
  hgGit,
  breezy,
  glab,
  infracost,
  pipelinesExporter,
  teamCity,
  webhookReceivers,
  ...notHadDrivers,
]
