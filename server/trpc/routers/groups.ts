import { createGroup } from '../../members/groups/create'
import { deleteGroup } from '../../members/groups/delete'
import { getGroup, listGroups } from '../../members/groups/read'
import type { CreateGroupInput, UpdateGroupInput } from '../../members/groups/schema'
import { updateGroup } from '../../members/groups/update'
import type { One } from '../../versioned/noun'
import { inputWith, router, tenantProcedure } from '../init'

export const groupsRouter = router({
  list: tenantProcedure.query(({ ctx }) => listGroups(ctx.service)),
  get: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => getGroup(ctx.service, input)),
  create: tenantProcedure
    .input(inputWith<CreateGroupInput>())
    .mutation(({ ctx, input }) => createGroup(ctx.service, input)),
  update: tenantProcedure
    .input(inputWith<One & { body: UpdateGroupInput }>('id'))
    .mutation(({ ctx, input }) => updateGroup(ctx.service, input)),
  delete: tenantProcedure.input(inputWith<One>('id')).mutation(({ ctx, input }) => deleteGroup(ctx.service, input)),
})
