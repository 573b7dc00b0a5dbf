import { z } from 'zod'
import { component } from '../../definition/component'
import { MAX_GROUP_NAME, sameName } from '../../definition/people'
import { STORABLE } from '../../query/storable-text'

const MAX_MEMBERS = 200

/** A name that `group:` can be followed by. */
const GroupName = z
  .string()
  .trim()
  .min(1, 'Enter a name')
  .max(MAX_GROUP_NAME)
  .refine(...STORABLE)
  .refine((name) => !/[\n\r\u2028\u2029]/.test(name), 'must be one line')
  .refine((name) => !name.includes('${'), 'must not contain ${')
  .refine((name) => sameName(`x${name}`) !== 'x', 'must contain a visible character')

const MemberIds = z
  .array(z.string().max(80))
  .max(MAX_MEMBERS, `may list ${MAX_MEMBERS} members at most`)
  .transform((ids) => [...new Set(ids)])

const settings = {
  name: GroupName.describe('How `assignees` name it, such as `group:Finance`. Upper and lower case are the same.'),
  memberIds: MemberIds.describe('The ids of its members, who are members of the workspace.'),
}

export const CreateGroup = component('CreateGroup', {
  ...settings,
  memberIds: settings.memberIds.default([]),
})
export type CreateGroupInput = z.input<typeof CreateGroup>

export const UpdateGroup = component('UpdateGroup', z.object(settings).partial().shape)
export type UpdateGroupInput = z.input<typeof UpdateGroup>
