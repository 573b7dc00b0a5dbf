'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'

export function NameForm({ name }: { name: string }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const router = useRouter()
  const [text, setText] = useState(name)
  const rename = useMutation(
    trpc.settings.rename.mutationOptions({
      onSuccess: async (saved) => {
        setText(saved.name)
        notifyDone('The workspace was renamed.')
        await queries.invalidateQueries(trpc.settings.pathFilter())
        // The navigation shows the name too.
        router.refresh()
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim()) rename.mutate({ name: text })
      }}
    >
      <Stack gap="sm" align="flex-start">
        <TextInput
          w="100%"
          label="Name"
          maxLength={100}
          autoComplete="off"
          error={text.trim() ? null : 'A workspace needs a name'}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {rename.error && <ErrorState error={rename.error} title="The workspace was not renamed" />}
        <Button
          type="submit"
          variant="default"
          loading={rename.isPending}
          disabled={!text.trim() || text.trim() === name}
        >
          Save name
        </Button>
      </Stack>
    </form>
  )
}
