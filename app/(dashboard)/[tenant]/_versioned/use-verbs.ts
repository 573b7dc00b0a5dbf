'use client'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { useTenant } from '../tenant-context'

interface Named {
  id: string
  name: string
}

/** The calls behind a list's menu. Each takes an id. */
export interface VerbServer {
  /** The query key for everything of this kind. */
  kind: QueryKey
  archive(id: string): Promise<unknown>
  unarchive(id: string): Promise<unknown>
  /** Restores the state before archiving. */
  undoArchive(id: string): Promise<unknown>
  duplicate(id: string): Promise<{ id: string }>
}

/** The actions on an agent or tool outside its editor. All lists and pages update. */
export function useVerbs(noun: 'agent' | 'tool', server: VerbServer) {
  const queries = useQueryClient()
  const router = useRouter()
  const { path } = useTenant()
  const onSuccess = () => queries.invalidateQueries({ queryKey: server.kind })
  const archive = useMutation({ mutationFn: server.archive, onSuccess })
  const unarchive = useMutation({ mutationFn: server.unarchive, onSuccess })
  const undo = useMutation({ mutationFn: server.undoArchive, onSuccess })
  const duplicate = useMutation({ mutationFn: server.duplicate, onSuccess })
  const undoArchive = ({ id, name }: Named) =>
    undo.mutate(id, {
      onSuccess: () => notifyDone(`${name} was restored.`),
      onError: (error) => notifyError(error, `${name} is still archived`),
    })
  return {
    restore: ({ id, name }: Named) =>
      unarchive.mutate(id, {
        onSuccess: () => notifyDone(`${name} was restored as a draft.`),
        onError: (error) => notifyError(error, `${name} was not restored`),
      }),
    restoring: unarchive.isPending,
    archive: (named: Named) =>
      archive.mutate(named.id, {
        onSuccess: () => notifyUndo(`${named.name} was archived.`, () => undoArchive(named)),
        onError: (error) => notifyError(error, `${named.name} was not archived`),
      }),
    duplicate: ({ id, name }: Named) =>
      duplicate.mutate(id, {
        onSuccess: (copy) => router.push(path(`/${noun}s/${copy.id}`)),
        onError: (error) => notifyError(error, `${name} was not duplicated`),
      }),
  }
}
