import type { FileInfo } from '@/server/vault/describe-files'

export type PreviewKind = 'image' | 'pdf' | 'csv' | 'text'

/** Images that every browser shows. Each is decoded as what its bytes are, and none can contain a script. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

/** A larger file is only downloaded. */
const MAX_BYTES = 64 * 1024 * 1024

/** How a file can be shown in place; null if it can only be downloaded. The server detected its type from its bytes. */
export function previewKind({ type, name, size }: Pick<FileInfo, 'type' | 'name' | 'size'>): PreviewKind | null {
  if (size > MAX_BYTES) return null
  if (IMAGES.includes(type)) return 'image'
  if (type === 'application/pdf') return 'pdf'
  if (type.startsWith('text/plain')) return /\.(csv|tsv)$/i.test(name) ? 'csv' : 'text'
  return type === 'application/json' ? 'text' : null
}

const WORDS: Record<string, string> = {
  'application/pdf': 'PDF',
  'application/json': 'JSON',
  'application/zip': 'ZIP archive',
  'application/gzip': 'gzip archive',
  'application/x-7z-compressed': '7z archive',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel workbook',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint presentation',
}

/** The type for people. */
export function typeWords({ type, name }: Pick<FileInfo, 'type' | 'name'>): string {
  const plain = type.split(';')[0] ?? ''
  if (plain === 'text/plain') return previewKind({ type, name, size: 0 }) === 'csv' ? 'CSV' : 'Text'
  const [family = '', member = ''] = plain.split('/')
  if (['image', 'video', 'audio'].includes(family))
    return `${member.replace('quicktime', 'mov').toUpperCase()} ${family}`
  return WORDS[plain] ?? 'File'
}
