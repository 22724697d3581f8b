import { administratorLevel } from '@switchyard/domain/access'
import type { ApprovalRule, EnvironmentParty } from '@switchyard/domain/deployment'
import { z } from 'zod'
import type { ProtectionOfEnvironment } from './store.js'

const partyShape = z.object({
  id: z.int(),
  access_level: z.int().nullable(),
  access_level_description: z.string(),
  user_id: z.int().nullable(),
  group_id: z.null(),
  group_inheritance_type: z.literal(0),
})

export const protectedEnvironmentShape = z
  .object({
    name: z.string(),
    deploy_access_levels: z.array(partyShape),
    required_approval_count: z.int(),
    approval_rules: z.array(z.object({ ...partyShape.shape, required_approvals: z.int() })),
  })
  .meta({
    id: 'ProtectedEnvironment',
    description: 'A protected environment: who may deploy to it, and who approves',
  })

const descriptions = new Map([
  [30, 'Developers + Maintainers'],
  [40, 'Maintainers'],
  [administratorLevel, 'Administrators'],
])

const presentParty = ({ id, accessLevel, userId }: EnvironmentParty): z.output<typeof partyShape> => ({
  id,
  access_level: accessLevel,
  access_level_description: accessLevel === null ? `User ${userId}` : (descriptions.get(accessLevel) ?? ''),
  user_id: userId,
  group_id: null,
  group_inheritance_type: 0,
})

const presentRule = ({ requiredApprovals, ...party }: ApprovalRule) => ({
  ...presentParty(party),
  required_approvals: requiredApprovals,
})

/** Returns a protection in GitLab's shape. */
export const presentProtectedEnvironment = ({
  name,
  deployers,
  requiredApprovalCount,
  approvalRules,
}: ProtectionOfEnvironment): z.output<typeof protectedEnvironmentShape> => ({
  name,
  deploy_access_levels: deployers.map(presentParty),
  required_approval_count: requiredApprovalCount,
  approval_rules: approvalRules.map(presentRule),
})
