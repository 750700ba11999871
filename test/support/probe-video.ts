import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findCommand } from '../services/run-command.ts';

export interface ProbedVideo {
  codec: string;
  seconds: number;
  /** Decoded one by one. */
  frames: number;
}

/** What ffmpeg's own reader makes of a file. `null`: it is not installed here, which is said. */
export async function probeVideo(path: string): Promise<ProbedVideo | null> {
  const ffprobe = findCommand('ffprobe');
  if (ffprobe === null) {
    console.warn('\nSKIPPED: made videos are not tried with `ffprobe`; `make browser` installs it.\n');
    return null;
  }
  const show = 'format=duration:stream=codec_name,nb_read_frames';
  const args = ['-v', 'error', '-count_frames', '-show_entries', show, '-of', 'json', path];
  const { stdout } = await promisify(execFile)(ffprobe, args);
  const { streams, format } = JSON.parse(stdout);
  const [{ codec_name: codec, nb_read_frames: frames }] = streams;
  return { codec, seconds: Number(format.duration), frames: Number(frames) };
}
