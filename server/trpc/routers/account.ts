import { type ChangePasswordInput, changePassword } from '../../account/change-password'
import { endOtherSessions } from '../../account/end-other-sessions'
import { getAccount } from '../../account/get'
import type { Person } from '../../account/person'
import type { SessionUser } from '../../auth/sessions'
import { now } from '../../clock'
import { database } from '../../database'
import { log } from '../../log'
import { inputWith, router, type TrpcContext, userProcedure } from '../init'

/** A person's operations on their own account. */
export const accountRouter = router({
  get: userProcedure.query(({ ctx }) => getAccount(personOf(ctx))),
  changePassword: userProcedure
    .input(inputWith<ChangePasswordInput>())
    .mutation(({ ctx, input }) => changePassword(personOf(ctx), input)),
  endOtherSessions: userProcedure.mutation(({ ctx }) => endOtherSessions(personOf(ctx))),
})

function personOf({ user, requestId }: TrpcContext & { user: SessionUser }): Person {
  return { user, db: database().db, log: log().child({ requestId }), now }
}
