'use client'
import { Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { Time } from '@/app/_ui/time'
import { LinkList } from '../_links/link-list'
import { NewLink } from '../_links/new-link'

/** Creates a start link, shows it once, and lists earlier links. */
export function StartLinkDialog({ workflowId, onClose }: { workflowId: string; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [label, setLabel] = useState('')
  const refresh = () => queries.invalidateQueries(trpc.startLinks.list.pathFilter())
  const links = useQuery(trpc.startLinks.list.queryOptions({ workflowId }))
  const make = useMutation(trpc.startLinks.create.mutationOptions({ onSuccess: refresh }))
  const revoke = useMutation(trpc.startLinks.revoke.mutationOptions({ onSettled: refresh }))
  return (
    <Dialog onClose={onClose} title="Share a public form" size="lg">
      <Stack>
        <Text size="sm">
          Anyone with the link can send this form and start the workflow, any number of times, without signing in. They
          see its title, its description and its form, and nothing else. The link stops working when it is revoked, and
          when you may no longer start the workflow.
        </Text>
        <NewLink
          made={make.data}
          usual="P90D"
          help="At most 366 days"
          beside={
            <TextInput
              label="Label"
              description="For you and your colleagues, such as where the link is published"
              maxLength={100}
              value={label}
              onChange={(event) => setLabel(event.currentTarget.value)}
              data-autofocus
            />
          }
          busy={make.isPending}
          error={make.error}
          onMake={(expiresIn) =>
            make.mutate({ workflowId, body: { expiresIn, ...(label.trim() ? { label: label.trim() } : {}) } })
          }
        />
        {links.error ? (
          <ErrorState error={links.error} onRetry={() => links.refetch()} />
        ) : (
          <LinkList
            label="Links to this form"
            links={links.data ?? []}
            note={({ label, madeBy, createdAt, starts, orMore }) => (
              <>
                {label !== null && <strong>{label} · </strong>}
                Made by {madeBy} <Time at={createdAt} /> · {startsText(starts, orMore)}
              </>
            )}
            revoking={revoke.isPending ? revoke.variables.linkId : null}
            onRevoke={(link) => revoke.mutate({ workflowId, linkId: link.id })}
            error={revoke.error}
          />
        )}
      </Stack>
    </Dialog>
  )
}

function startsText(starts: number, orMore: boolean): string {
  if (starts === 0) return 'not used yet'
  if (orMore) return `${starts} or more runs started`
  return starts === 1 ? '1 run started' : `${starts} runs started`
}
