'use client'
import { Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { Time } from '@/app/_ui/time'
import { LinkList } from '../_links/link-list'
import { NewLink } from '../_links/new-link'

/** Creates a task link, shows it once, and lists earlier links. */
export function LinkDialog({ runId, pauseId, onClose }: { runId: string; pauseId: string; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries(trpc.taskLinks.list.pathFilter())
  const links = useQuery(trpc.taskLinks.list.queryOptions({ runId, pauseId }))
  const make = useMutation(trpc.taskLinks.create.mutationOptions({ onSuccess: refresh }))
  const revoke = useMutation(trpc.taskLinks.revoke.mutationOptions({ onSettled: refresh }))
  return (
    <Dialog onClose={onClose} title="Share a link to this task" size="lg">
      <Stack>
        <Text size="sm">
          Anyone with the link can answer this task once, in your name, without signing in. They see what the task
          shows: its title, message, values and due time. They see nothing else of the run.
        </Text>
        <NewLink
          made={make.data}
          usual="P7D"
          help="At most 30 days, or until the task’s own time is up"
          busy={make.isPending}
          error={make.error}
          onMake={(expiresIn) => make.mutate({ runId, body: { pauseId, expiresIn } })}
        />
        {links.error ? (
          <ErrorState error={links.error} onRetry={() => links.refetch()} />
        ) : (
          <LinkList
            label="Links to this task"
            links={links.data ?? []}
            note={({ madeBy, madeFor, createdAt }) => (
              <>
                Made by {madeBy}
                {madeFor !== null && ` for ${madeFor}`} <Time at={createdAt} />
              </>
            )}
            revoking={revoke.isPending ? revoke.variables.linkId : null}
            onRevoke={(link) => revoke.mutate({ runId: link.runId, linkId: link.id })}
            error={revoke.error}
          />
        )}
      </Stack>
    </Dialog>
  )
}
