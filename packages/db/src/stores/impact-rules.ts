// What rules of the delivery loop do about a deployment. The worker applies and ends them, git-api shows and reverts them.

/** A type, as no interface is a value of JSON to the compiler. Of a rule, the message is a template; of a run, it is what is shown. */
export type RuleBanner = {
  message: string
  /** Of a rule, null: the pages of the project in the console. */
  targetPath: string | null
  theme: string
  dismissable: boolean
}

// SQL about the run `r`, of which the project and the deployment are enough for the last two.

/** Whether it has done what can end, and nobody has noted the end. */
export const isRunOpen = '(r.ended_at IS NULL AND NOT r.dry_run AND (r.freezes OR r.banner IS NOT NULL))'

/** Whether the findings about its deployment are dismissed. */
export const isRunDismissed = `EXISTS (SELECT FROM deployment_dismissals d
  WHERE d.project_id = r.project_id AND d.deployment_id = r.deployment_id)`

/** Whether the environment has got another deployment since. */
export const isRunFollowed = `EXISTS (SELECT FROM deployments blamed JOIN deployments later
  ON later.project_id = blamed.project_id AND later.environment_id = blamed.environment_id
    AND later.status = 'success' AND later.finished_at > blamed.finished_at
  WHERE blamed.project_id = r.project_id AND blamed.id = r.deployment_id)`

/** Whether what it did holds, also while nobody has noted the end. */
export const isRunInForce = `(${isRunOpen} AND NOT ${isRunDismissed} AND NOT ${isRunFollowed})`
