import { useEffect, useMemo, useState } from 'react'
import type { Sending } from '@/app/_ui/files/sending-file'
import { useUploads } from '@/app/_ui/files/uploads'
import { FileSender } from './file-sender'
import type { Entry } from './start-values'

/**
 * The sender of a form's files.
 * @param entries the form's present entries
 */
export function useFileSender(entries: Record<string, Entry>) {
  const uploads = useUploads()
  const [sending, setSending] = useState<Sending | null>(null)
  const sender = useMemo(() => new FileSender(uploads, setSending), [uploads])
  useEffect(() => {
    sender.enter()
    return () => sender.leave()
  }, [sender])
  useEffect(() => sender.keepOnly(Object.values(entries).flat()), [sender, entries])
  return {
    sender,
    limit: uploads.limit,
    /** For `SendingFile`. */
    progress: { sending, onCancel: () => sender.cancel() },
  }
}
