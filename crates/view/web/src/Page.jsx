import { App, H5GroveProvider } from '@h5web/app';
import { useCallback, useEffect, useState } from 'react';

// The address of the page ends with the token, and everything else is below it.
const SERVER = new URL('.', window.location.href).href.replace(/\/$/, '');
const POLLED_EVERY_MS = 2000;

export function Page() {
  const [files, setFiles] = useState([]);
  const [problem, setProblem] = useState(null);
  const [name, setName] = useState(chosen());
  // The state of each file that the page shows.
  const [shown, setShown] = useState({});

  const look = useCallback(async () => {
    try {
      const response = await fetch(`${SERVER}/files`);
      if (!response.ok) {
        throw new Error(`the server answers ${response.status}`);
      }
      const found = await response.json();
      setFiles(found);
      setShown((before) => ({ ...Object.fromEntries(found.map((file) => [file.name, file.version])), ...before }));
      setProblem(null);
    } catch (error) {
      setProblem(`The server cannot be reached (${error.message}). Start hyperslab view again.`);
    }
  }, []);

  useEffect(() => {
    look();
    const timer = setInterval(() => document.visibilityState === 'visible' && look(), POLLED_EVERY_MS);
    const onHash = () => setName(chosen());
    window.addEventListener('hashchange', onHash);
    return () => {
      clearInterval(timer);
      window.removeEventListener('hashchange', onHash);
    };
  }, [look]);

  const file = files.find((one) => one.name === name) ?? files[0];
  useEffect(() => {
    document.title = file ? `${file.name} - hyperslab view` : 'hyperslab view';
  }, [file?.name]);
  if (!file) {
    return problem && <p className="notice">{problem}</p>;
  }
  const isChanged = file.version !== shown[file.name];
  return (
    <>
      {files.length > 1 && (
        <label className="files">
          File
          <select
            aria-label="File"
            value={file.name}
            onChange={(event) => {
              window.location.hash = encodeURIComponent(event.target.value);
            }}
          >
            {files.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
        </label>
      )}
      {problem && <p className="notice">{problem}</p>}
      {isChanged && (
        <p className="notice" role="status">
          {file.version === null ? 'The file is gone.' : 'The file has changed.'}
          <button type="button" onClick={() => setShown({ ...shown, [file.name]: file.version })}>
            Reload
          </button>
        </p>
      )}
      <main>
        <H5GroveProvider
          // H5Web keeps what it read until the provider is a new one.
          key={`${file.name} ${shown[file.name]}`}
          url={SERVER}
          filepath={file.name}
        >
          <App />
        </H5GroveProvider>
      </main>
    </>
  );
}

/** Returns the name of the file that the address of the page names. */
function chosen() {
  try {
    return decodeURIComponent(window.location.hash.slice(1));
  } catch {
    return '';
  }
}
