'use client'
import { Button, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { underField } from '@/app/_ui/sentence'
import { MAX_GROUP_NAME, sameGroup } from '@/server/definition/people'
import type { Group } from '@/server/members/groups/find'
import type { GroupInUse } from '@/server/members/groups/read'
import type { Member } from '../members/member'
import { MemberOption } from './member-option'
import { NamedIn } from './named-in'

/** Creates a group or changes one. */
export function GroupDialog({
  group,
  members,
  onClose,
}: {
  group: Group | null
  members: readonly Member[]
  onClose: () => void
}) {
  const [name, setName] = useState(group?.name ?? '')
  const [memberIds, setMemberIds] = useState(group?.memberIds ?? [])
  const { save, error, busy, renamed } = useSaveGroup(group, onClose)
  if (renamed) return <Renamed group={renamed} onClose={onClose} />
  const details = error ? errorOf(error).details : []
  const ofName = details.find(({ path }) => path === 'name')?.message
  const byId = new Map(members.map((member) => [member.userId, member]))
  function submit(event: FormEvent) {
    event.preventDefault()
    save({ name: name.trim(), memberIds })
  }
  return (
    <Dialog onClose={onClose} title={group ? `Edit the group “${group.name}”` : 'New group'}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="Workflows assign tasks to the group by this name"
            placeholder="Finance"
            withAsterisk
            autoComplete="off"
            maxLength={MAX_GROUP_NAME}
            error={ofName && underField(ofName)}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <MultiSelect
            label="Members"
            description="Viewers may be members of a group, but may not answer tasks"
            placeholder={memberIds.length === 0 ? 'Name or email' : ''}
            data={members.map(({ userId, name }) => ({ value: userId, label: name }))}
            value={memberIds}
            onChange={setMemberIds}
            searchable
            hidePickedOptions
            nothingFoundMessage="No member matches"
            filter={({ options, search }) =>
              options.filter((option) => 'value' in option && matches(byId.get(String(option.value)), search))
            }
            renderOption={({ option }) => <MemberOption member={byId.get(String(option.value))} />}
          />
          {error && !ofName && <ErrorState error={error} title="The group was not saved" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy} disabled={!name.trim()}>
              {group ? 'Save' : 'Create group'}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}

function useSaveGroup(group: Group | null, onClose: () => void) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [renamed, setRenamed] = useState<GroupInUse | null>(null)
  const refresh = () => queries.invalidateQueries(trpc.groups.pathFilter())
  const create = useMutation(
    trpc.groups.create.mutationOptions({
      onSuccess: async ({ name }) => {
        await refresh()
        onClose()
        notifyDone(`The group ${name} was created.`)
      },
    }),
  )
  const update = useMutation(
    trpc.groups.update.mutationOptions({
      onSuccess: async (saved) => {
        await refresh()
        if (withEarlierName(saved).length > 0 && saved.name !== group?.name) return setRenamed(saved)
        onClose()
        notifyDone(`The group ${saved.name} was saved.`)
      },
    }),
  )
  const { error, isPending: busy } = group ? update : create
  return {
    save: (body: { name: string; memberIds: string[] }) =>
      group ? update.mutate({ id: group.id, body }) : create.mutate(body),
    ...{ error, busy, renamed },
  }
}

/** The workflows that still use an earlier name. */
function withEarlierName({ name, usedBy }: GroupInUse) {
  return usedBy.filter(({ as }) => as.some((one) => sameGroup(one) !== sameGroup(name)))
}

function Renamed({ group, onClose }: { group: GroupInUse; onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title={`The group is called “${group.name}” now`}>
      <Stack gap="sm">
        <Text size="sm">
          These workflows use an earlier name. They continue as before, until another group gets that name. So change
          them when you can:
        </Text>
        <NamedIn workflows={withEarlierName(group)} />
        <DialogButtons>
          <Button onClick={onClose} data-autofocus>
            Close
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}

function matches(member: Member | undefined, search: string): boolean {
  const text = `${member?.name ?? ''} ${member?.email ?? ''}`.toLowerCase()
  return text.includes(search.trim().toLowerCase())
}
