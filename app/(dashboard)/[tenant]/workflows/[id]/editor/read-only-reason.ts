import type { useTenant } from '../../../tenant-context'

/** Why a workflow cannot be edited; null if it can. */
export function readOnlyReason(
  { may, role }: Pick<ReturnType<typeof useTenant>, 'may' | 'role'>,
  archived: boolean,
): string | null {
  if (archived) return 'This workflow is archived and cannot be edited.'
  return may('workflow:write') ? null : `Your role (${role}) can view this workflow but not edit it.`
}
