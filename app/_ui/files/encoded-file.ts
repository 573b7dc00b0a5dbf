import type { EncodedFile } from '@/server/runs/with-files'

/** A file within a call, which is JSON. */
export async function encodedFile(file: File): Promise<EncodedFile> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read.'))
    reader.readAsDataURL(file)
  })
  return { name: file.name, type: file.type, base64: url.slice(url.indexOf(',') + 1) }
}
