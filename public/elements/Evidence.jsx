import { Fragment, useState } from 'react';
import { FileCode2 } from 'lucide-react';

function Lines({ lines, open }) {
  const follows = (number, at) => at === 0 || lines[at - 1][0] === number - 1;
  return (
    <div className="rp-code-scroll rp-search-lines" tabIndex={0}>
      <table>
        <tbody>
          {lines.map(([number, text, focus], at) => (
            <Fragment key={number}>
              {!follows(number, at) && <tr className="rp-gap"><td className="rp-line-number">⋯</td><td /></tr>}
              <tr data-line={number} className={focus ? 'rp-cited' : ''}>
                <td className="rp-line-number"><button tabIndex={-1} onClick={() => open(number)}>{number}</button></td>
                <td><pre>{text || ' '}</pre></td>
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Place({ place, show }) {
  return (
    <li className="rp-found" data-number={place.number}>
      <div className="rp-row rp-tight">
        <span className="rp-source-number">{place.number}</span>
        <strong className="rp-place rp-found-title">{place.title}</strong>
        <span className="rp-grow" />
        <button className="rp-source" aria-label={place.open} title={place.open} onClick={() => show(place.number)}>
          <FileCode2 size={13} /><span className="rp-place">{place.place}</span>
        </button>
      </div>
      {place.signature && <div className="rp-signature">{place.signature}</div>}
      {place.summary && <div className="rp-muted rp-detail">{place.summary}</div>}
      {place.lines.length > 0 && <Lines lines={place.lines} open={(line) => show(place.number, line)} />}
    </li>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user unfolded stays. All words come from the catalogue, in `props.words`.
const Evidence = (window.repopilotEvidence ||= function ({ props, callAction }) {
  const [failed, setFailed] = useState('');
  const show = async (number, line = null) => {
    const result = await callAction({ name: 'show_citation', payload: { answer: props.answer, number, line } });
    setFailed(result?.response?.error || (result?.success ? '' : props.words.no_answer));
  };
  return (
    <section className="rp-evidence rp-code" aria-label={props.words.title}>
      <strong>{props.words.title}</strong>
      <ol className="rp-found-list">
        {props.shown.map((place) => <Place key={place.number} place={place} show={show} />)}
      </ol>
      {props.more && (
        <details className="rp-why">
          <summary>{props.more}</summary>
          <ol className="rp-found-list">
            {props.folded.map((place) => <Place key={place.number} place={place} show={show} />)}
          </ol>
        </details>
      )}
      {failed && <div className="rp-error">{failed}</div>}
    </section>
  );
});

export default <Evidence props={props} callAction={callAction} />;
